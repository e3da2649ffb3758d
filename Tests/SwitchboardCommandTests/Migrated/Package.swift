// swift-tools-version: 6.1
import PackageDescription

// Written for grpc-swift 1: MigrateTests moves a copy of it, and compiles the result.
let package = Package(
  name: "lines",
  dependencies: [
    .package(url: "https://github.com/grpc/grpc-swift.git", from: "1.23.0")
  ],
  targets: [
    .executableTarget(name: "Lines", dependencies: [.product(name: "GRPC", package: "grpc-swift")])
  ]
)

// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "switchboard",
  platforms: [.macOS("26.0")],
  products: [
    .library(name: "SwitchboardProtobuf", targets: ["SwitchboardProtobuf"])
  ],
  targets: [
    // The message runtime: no dependency but the standard library.
    .target(name: "SwitchboardProtobuf"),
    .testTarget(name: "SwitchboardProtobufTests", dependencies: ["SwitchboardProtobuf"]),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

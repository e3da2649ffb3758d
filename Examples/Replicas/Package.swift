// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "replicas",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(name: "switchboard", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "Replicas",
      dependencies: [.product(name: "Switchboard", package: "switchboard")],
      plugins: [.plugin(name: "SwitchboardPlugin", package: "switchboard")]
    )
  ],
  swiftLanguageModes: [.v6]
)

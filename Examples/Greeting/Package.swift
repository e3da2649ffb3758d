// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "greeting",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(name: "switchboard", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "Greeting",
      dependencies: [.product(name: "SwitchboardProtobuf", package: "switchboard")],
      plugins: [.plugin(name: "SwitchboardPlugin", package: "switchboard")]
    )
  ],
  swiftLanguageModes: [.v6]
)

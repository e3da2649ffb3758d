// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "observed",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(name: "switchboard", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "Observed",
      dependencies: [
        .product(name: "Switchboard", package: "switchboard"),
        .product(name: "SwitchboardConsole", package: "switchboard"),
        .product(name: "SwitchboardTelemetry", package: "switchboard"),
      ],
      plugins: [.plugin(name: "SwitchboardPlugin", package: "switchboard")]
    )
  ],
  swiftLanguageModes: [.v6]
)

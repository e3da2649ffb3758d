// swift-tools-version: 6.1
import PackageDescription

let runtime = Target.Dependency.product(name: "Switchboard", package: "switchboard")
let services = Target.Dependency.product(name: "SwitchboardServices", package: "switchboard")
let telemetry = Target.Dependency.product(name: "SwitchboardTelemetry", package: "switchboard")
let generator = Target.PluginUsage.plugin(name: "SwitchboardPlugin", package: "switchboard")

let package = Package(
  name: "parcels",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(name: "switchboard", path: "../..")
  ],
  targets: [
    .executableTarget(name: "Parcels", dependencies: [runtime, services, telemetry], plugins: [generator]),
    .executableTarget(name: "Courier", dependencies: [runtime], plugins: [generator]),
    .testTarget(name: "ParcelsTests", dependencies: ["Parcels", runtime]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.1
import PackageDescription

let runtime = Target.Dependency.product(name: "Switchboard", package: "switchboard")
let generator = Target.PluginUsage.plugin(name: "SwitchboardPlugin", package: "switchboard")

// Each of the libraries generates its own messages; those of Orders hold those of Catalog, and the
// plugin finds out from the dependency which module they are in.
let package = Package(
  name: "shop",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(name: "switchboard", path: "../..")
  ],
  targets: [
    .target(name: "Catalog", dependencies: [runtime], plugins: [generator]),
    .target(name: "Orders", dependencies: ["Catalog", runtime], plugins: [generator]),
    .executableTarget(name: "Shop", dependencies: ["Catalog", "Orders", runtime]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "mesh",
  platforms: [.macOS("26.0")],
  dependencies: [
    .package(name: "switchboard", path: "../..")
  ],
  targets: [
    .executableTarget(
      name: "Mesh",
      dependencies: [
        .product(name: "Switchboard", package: "switchboard"),
        .product(name: "SwitchboardXDS", package: "switchboard"),
      ],
      plugins: [.plugin(name: "SwitchboardPlugin", package: "switchboard")]
    )
  ],
  swiftLanguageModes: [.v6]
)

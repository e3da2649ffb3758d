import SwitchboardMigration
import Testing

@Suite struct ManifestTests {
  private static let declaration = #".package(name: "switchboard", path: "../s")"#

  private func changed(_ text: String, keepsMessages: Bool = false) -> String {
    var package = Package()
    package.settings = .init(
      dependency: .init(name: "switchboard", declaration: Self.declaration),
      keepsMessages: keepsMessages
    )
    let changed = package.changed(text, isManifest: true)
    #expect(package.changed(changed, isManifest: true) == changed)
    return changed
  }

  @Test(arguments: [
    #".package(url: "https://github.com/grpc/grpc-swift.git", from: "1.21.0")"#,
    #".package(url: "https://github.com/grpc/grpc-swift", .upToNextMajor(from: "1.0.0"))"#,
    #".package(url: "https://github.com/grpc/grpc-swift.git", exact: "1.24.1")"#,
    #".package(name: "grpc-swift", url: "https://github.com/grpc/grpc-swift.git", from: "1.0.0")"#,
    #".package(url: "https://github.com/grpc/grpc-swift-2.git", "2.0.0"..<"3.0.0")"#,
  ]) func theDependencyIsReplaced(_ old: String) {
    #expect(changed("x = [\(old)]") == "x = [\(Self.declaration)]")
  }

  @Test func productsAndPlugins() {
    let old = """
      dependencies: [
        .package(url: "https://github.com/grpc/grpc-swift-2.git", from: "2.0.0"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport.git", from: "2.0.0"),
        .package(url: "https://github.com/grpc/grpc-swift-protobuf.git", from: "2.0.0"),
      ], targets: [.target(name: "A", dependencies: [
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
      ], plugins: [.plugin(name: "GRPCProtobufGenerator", package: "grpc-swift-protobuf")])]
      """
    let new = """
      dependencies: [
        \(Self.declaration),
      ], targets: [.target(name: "A", dependencies: [
        .product(name: "Switchboard", package: "switchboard"),
        .product(name: "SwitchboardProtobuf", package: "switchboard"),
      ], plugins: [.plugin(name: "SwitchboardPlugin", package: "switchboard")])]
      """
    #expect(changed(old) == new)
  }

  @Test func messagesOfTheSecondVersion() {
    let old = """
      dependencies: [
        .package(url: "https://github.com/apple/swift-protobuf.git", from: "1.28.0"),
      ], targets: [.target(name: "Proto", dependencies: [
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ]), .target(name: "App", dependencies: [
        .product(name: "GRPCCore", package: "grpc-swift-2"),
        .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf"),
        .product(name: "SwiftProtobuf", package: "swift-protobuf"),
      ], plugins: [
        .plugin(name: "SwiftProtobufPlugin", package: "swift-protobuf"),
      ])] // grpc-swift
      """
    let new = """
      dependencies: [
      ], targets: [.target(name: "Proto", dependencies: [
        .product(name: "Switchboard", package: "switchboard"),
        .product(name: "SwitchboardProtobuf", package: "switchboard"),
      ]), .target(name: "App", dependencies: [
        .product(name: "Switchboard", package: "switchboard"),
        .product(name: "SwitchboardProtobuf", package: "switchboard"),
      ], plugins: [
      ])] // grpc-swift
      """
    #expect(changed(old) == new)
    #expect(changed(old, keepsMessages: true).contains("swift-protobuf.git"))
  }

  @Test func productsOfTheFirstVersion() {
    let old =
      #"[.product(name: "GRPC", package: "grpc-swift"), .product(name: "GRPCReflectionService", package: "grpc-swift")], plugins: [.plugin(name: "GRPCSwiftPlugin", package: "grpc-swift")]"#
    let new =
      #"[.product(name: "Switchboard", package: "switchboard"), .product(name: "SwitchboardServices", package: "switchboard")], plugins: [.plugin(name: "SwitchboardPlugin", package: "switchboard")]"#
    #expect(changed(old) == new)
    #expect(Package().changed(old, isManifest: true) == old)
    let advice = Package().migration(old, isManifest: true).findings.map(\.advice)
    #expect(
      advice == [
        #"Use .product(name: "Switchboard", package: "switchboard")."#,
        #"Use .product(name: "SwitchboardServices", package: "switchboard")."#,
        #"Use .plugin(name: "SwitchboardPlugin", package: "switchboard")."#,
      ]
    )
  }

  @Test func withoutADependencyNothingIsChanged() {
    let text =
      "platforms: [x], dependencies: [.package(url: \"https://github.com/grpc/grpc-swift.git\", from: \"1.0.0\")]"
    #expect(Package().changed(text, isManifest: true) == text)
    #expect(
      Package().advice(text, isManifest: true) == [
        "1: platforms", "1: \"https://github.com/grpc/grpc-swift.git\"",
      ]
    )
    #expect(Package().advice("platforms: [x]", isManifest: true) == [])
  }
}

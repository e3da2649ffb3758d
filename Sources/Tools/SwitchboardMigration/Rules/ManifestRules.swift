/// Package.swift.
enum ManifestRules {
  static func rules(_ settings: MigrationSettings) -> [Rule] {
    (settings.dependency == nil ? advice : changes) + (settings.keepsMessages ? keptMessages : messages)
      + both
  }

  private static let first = ["grpc-swift", "grpc-swift-2"].flatMap(urls)
  private static let parts = ["grpc-swift-nio-transport", "grpc-swift-protobuf", "grpc-swift-extras"].flatMap(
    urls
  )
  private static let protobuf = urls("swift-protobuf", of: ["apple"])

  private static func urls(_ name: String) -> [String] { urls(name, of: ["grpc"]) }

  private static func urls(_ name: String, of owners: [String]) -> [String] {
    owners.flatMap { owner in
      ["https://github.com/\(owner)/\(name).git", "https://github.com/\(owner)/\(name)"]
    }
  }

  /// Without a dependency to write, a person makes all changes.
  private static let advice: [Rule] =
    (first + parts).map {
      .advise(
        "\"\($0)\"",
        in: .manifest,
        "Depend on Switchboard: '--switchboard PATH|URL' makes the changes of this file that are certain."
      )
    } + [
      .advise(
        "package: \"grpc-swift\"",
        in: .manifest,
        "Use .product(name: \"Switchboard\", package: \"switchboard\")."
      )
    ]

  private static let changes: [Rule] =
    first.flatMap { url in
      [
        .change(".package(url: \"\(url)\", $version)", to: "$declaration", in: .manifest),
        .change(".package(url: \"\(url)\", $KIND: $version)", to: "$declaration", in: .manifest),
        .change(
          ".package(name: \"grpc-swift\", url: \"\(url)\", $version)",
          to: "$declaration",
          in: .manifest
        ),
        .change(
          ".package(name: \"grpc-swift\", url: \"\(url)\", $KIND: $version)",
          to: "$declaration",
          in: .manifest
        ),
        .advise("\"\(url)\"", in: .manifest, "Depend on Switchboard."),
      ]
    }
    + parts.flatMap { url in
      [
        .remove(".package(url: \"\(url)\", $version)", in: .manifest, because: "Switchboard has it"),
        .remove(".package(url: \"\(url)\", $KIND: $version)", in: .manifest, because: "Switchboard has it"),
      ]
    } + products

  private static let products: [Rule] = [
    product("GRPC", of: "grpc-swift"), product("GRPCCore", of: "grpc-swift-2"),
    product("GRPCCore", of: "grpc-swift"),
    .remove(
      ".product(name: \"GRPCNIOTransportHTTP2\", package: \"grpc-swift-nio-transport\")",
      in: .manifest,
      if: .besides("\"GRPCCore\""),
      because: "the product Switchboard has it"
    ),
    product("GRPCNIOTransportHTTP2", of: "grpc-swift-nio-transport"),
    product("GRPCProtobuf", of: "grpc-swift-protobuf", is: "SwitchboardProtobuf"),
    product("GRPCHealthService", of: "grpc-swift-extras", is: "SwitchboardServices"),
    product("GRPCReflectionService", of: "grpc-swift-extras", is: "SwitchboardServices"),
    plugin("GRPCSwiftPlugin", of: "grpc-swift"), plugin("GRPCProtobufGenerator", of: "grpc-swift-protobuf"),
  ]

  private static func product(_ name: String, of package: String, is new: String = "Switchboard") -> Rule {
    .change(
      ".product(name: \"\(name)\", package: \"\(package)\")",
      to: ".product(name: \"\(new)\", package: \"$switchboard\")",
      in: .manifest
    )
  }

  private static func plugin(_ name: String, of package: String) -> Rule {
    .change(
      ".plugin(name: \"\(name)\", package: \"\(package)\")",
      to: ".plugin(name: \"SwitchboardPlugin\", package: \"$switchboard\")",
      in: .manifest,
      because: "its switchboard.json is described in docs/reference/Generator.md"
    )
  }

  private static let messages: [Rule] = [
    .advise(
      "\"SwiftProtobuf\"",
      in: .manifest,
      "Messages are Switchboard's: the product SwitchboardProtobuf. With '--keep-messages' they stay."
    ),
    .advise(
      "\"SwiftProtobufPlugin\"",
      in: .manifest,
      "SwitchboardPlugin generates messages and services: leave this out."
    ),
  ]

  private static let keptMessages: [Rule] = [
    .advise(
      "\"SwiftProtobuf\"",
      in: .manifest,
      "Add the product SwitchboardSwiftProtobuf, and build with SWITCHBOARD_SWIFT_PROTOBUF=1 (docs/guide/Marshallers.md)."
    )
  ]

  private static let both: [Rule] = [
    .advise(
      "\"swift-nio\"",
      in: .manifest,
      once: true,
      "Leave NIO out where nothing else needs it."
    ),
    .advise(
      "platforms",
      in: .manifest,
      "On Apple's systems, Switchboard needs macOS 26: platforms: [.macOS(\"26.0\")]."
    ),
  ]
}

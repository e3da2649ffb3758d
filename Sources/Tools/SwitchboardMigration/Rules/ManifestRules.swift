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
    }
    + moved.map { kind, name, package, new in
      .advise(
        ".\(kind)(name: \"\(name)\", package: \"\(package)\")",
        in: .manifest,
        "Use .\(kind)(name: \"\(new)\", package: \"switchboard\")."
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

  private static let products: [Rule] =
    [
      .remove(
        ".product(name: \"GRPCNIOTransportHTTP2\", package: \"grpc-swift-nio-transport\")",
        in: .manifest,
        if: .besides("\"GRPCCore\""),
        because: "the product Switchboard has it"
      )
    ]
    + moved.map { kind, name, package, new in
      .change(
        ".\(kind)(name: \"\(name)\", package: \"\(package)\")",
        to: ".\(kind)(name: \"\(new)\", package: \"$switchboard\")",
        in: .manifest,
        because: kind == "plugin" ? "its switchboard.json is described in docs/reference/Generator.md" : ""
      )
    }

  /// What has another name.
  private static let moved = [
    ("product", "GRPC", "grpc-swift", "Switchboard"),
    ("product", "GRPCReflectionService", "grpc-swift", "SwitchboardServices"),
    ("plugin", "GRPCSwiftPlugin", "grpc-swift", "SwitchboardPlugin"),
    ("product", "GRPCCore", "grpc-swift", "Switchboard"),
    ("product", "GRPCCore", "grpc-swift-2", "Switchboard"),
    ("product", "GRPCNIOTransportHTTP2", "grpc-swift-nio-transport", "Switchboard"),
    ("product", "GRPCProtobuf", "grpc-swift-protobuf", "SwitchboardProtobuf"),
    ("plugin", "GRPCProtobufGenerator", "grpc-swift-protobuf", "SwitchboardPlugin"),
    ("product", "GRPCHealthService", "grpc-swift-extras", "SwitchboardServices"),
    ("product", "GRPCReflectionService", "grpc-swift-extras", "SwitchboardServices"),
  ]

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

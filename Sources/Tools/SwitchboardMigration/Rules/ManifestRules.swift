/// Package.swift.
enum ManifestRules {
  static func rules(_ settings: MigrationSettings) -> [Rule] {
    let isChanged = settings.dependency != nil
    return (isChanged ? changes : advice)
      + (settings.keepsMessages ? keptMessages : (isChanged ? movedMessages : []) + messages) + both
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
    + parts.flatMap { removed($0, because: "Switchboard has it") } + products

  private static func removed(_ url: String, because reason: String) -> [Rule] {
    ["$version", "$KIND: $version"].map {
      .remove(".package(url: \"\(url)\", \($0))", in: .manifest, because: reason)
    }
  }

  private static let products: [Rule] =
    [
      .remove(
        ".product(name: \"GRPCNIOTransportHTTP2\", package: \"grpc-swift-nio-transport\")",
        in: .manifest,
        if: .besides("\"GRPCCore\""),
        because: "the product Switchboard has it"
      ),
      .change(
        ".product(name: \"GRPCProtobuf\", package: \"grpc-swift-protobuf\")",
        to: ".product(name: \"SwitchboardProtobuf\", package: \"$switchboard\")",
        in: .manifest,
        if: .besides("\"GRPCCore\"")
      ),
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
    ("product", "GRPCProtobuf", "grpc-swift-protobuf", "Switchboard"),
    ("plugin", "GRPCProtobufGenerator", "grpc-swift-protobuf", "SwitchboardPlugin"),
    ("product", "GRPCHealthService", "grpc-swift-extras", "SwitchboardServices"),
    ("product", "GRPCReflectionService", "grpc-swift-extras", "SwitchboardServices"),
  ]

  /// SwiftProtobuf goes where its imports go.
  private static let movedMessages: [Rule] =
    protobuf.flatMap { removed($0, because: "messages are Switchboard's") } + [
      .remove(
        ".product(name: \"SwiftProtobuf\", package: \"swift-protobuf\")",
        in: .manifest,
        if: .besides("\"GRPCCore\""),
        .besides("\"GRPCProtobuf\""),
        because: "the product SwitchboardProtobuf is there already"
      ),
      .change(
        ".product(name: \"SwiftProtobuf\", package: \"swift-protobuf\")",
        to: ".product(name: \"SwitchboardProtobuf\", package: \"$switchboard\")",
        in: .manifest
      ),
      .remove(
        ".plugin(name: \"SwiftProtobufPlugin\", package: \"swift-protobuf\")",
        in: .manifest,
        because: "SwitchboardPlugin generates messages and services"
      ),
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
      "Add the product SwitchboardSwiftProtobuf, and turn on Switchboard's trait: traits: [\"SwiftProtobuf\"] (docs/guide/Marshallers.md)."
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

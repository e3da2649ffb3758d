import SwitchboardDescriptors

@testable import SwitchboardMock

/// Files of rules for mocks, in JSON and YAML.
enum MockRulesTarget {
  /// `fuzz.Fuzz/One` and `fuzz.Fuzz/Many`, whose messages contain themselves.
  private static let schema = Result {
    let message = Google_Protobuf_DescriptorProto.with {
      $0.name = "Node"
      $0.field = [
        .with {
          $0.name = "text"
          $0.number = 1
          $0.type = .string
          $0.label = .optional
        },
        .with {
          $0.name = "nodes"
          $0.number = 2
          $0.type = .message
          $0.typeName = ".fuzz.Node"
          $0.label = .repeated
        },
        .with {
          $0.name = "node"
          $0.number = 3
          $0.type = .message
          $0.typeName = ".fuzz.Node"
          $0.label = .optional
        },
      ]
    }
    let file = Google_Protobuf_FileDescriptorProto.with {
      $0.name = "fuzz.proto"
      $0.package = "fuzz"
      $0.syntax = "proto3"
      $0.messageType = [message]
      $0.service = [
        .with {
          $0.name = "Fuzz"
          $0.method = ["One", "Many"].map { name in
            .with {
              $0.name = name
              $0.inputType = ".fuzz.Node"
              $0.outputType = ".fuzz.Node"
              $0.serverStreaming = name == "Many"
            }
          }
        }
      ]
    }
    return try MockSchema([file])
  }

  static func run(_ input: [UInt8]) throws {
    let text = String(decoding: input, as: UTF8.self)
    guard let document = try? DocumentReader.read(text) else { return }
    let json = document.json
    let again = try? DocumentReader.read(json)
    try BrokenPromise.unless(again == document, "\(json) is read as \(again?.json ?? "nothing")")
    let schema = try schema.get()
    guard let rules = try? MockRules(text, schema) else { return }
    for method in schema.methods(matching: "*") {
      _ = rules.rule(for: ExampleMessage.of(method.request), of: method)
      _ = rules.rule(for: nil, of: method)
    }
  }
}

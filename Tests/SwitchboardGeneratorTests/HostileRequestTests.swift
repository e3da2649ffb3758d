import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardProtobuf
import Testing

private typealias File = Google_Protobuf_FileDescriptorProto
private typealias Field = Google_Protobuf_FieldDescriptorProto

/// Requests that no compiler makes: they cause an error and nothing else.
@Suite("Hostile requests")
struct HostileRequestTests {
  /// The generator's error for a file that `change` has modified.
  private func error(_ change: (inout File) -> Void) -> String? {
    var file = File()
    file.name = "a.proto"
    file.syntax = "proto3"
    file.package = "p"
    file.messageType = [.with { $0.name = "M" }]
    file.enumType = [
      .with {
        $0.name = "E"
        $0.value = [.with { $0.name = "E_ZERO" }]
      }
    ]
    change(&file)
    return error([file])
  }

  private func error(_ files: [File], parameter: String = "", generate: [String] = ["a.proto"]) -> String? {
    let request = Google_Protobuf_Compiler_CodeGeneratorRequest.with {
      $0.fileToGenerate = generate
      $0.protoFile = files
      $0.parameter = parameter
    }
    do throws(GeneratorError) {
      _ = try Generator(request: request).files()
      return nil
    } catch {
      return error.description
    }
  }

  /// The generator's error for a message with one field.
  private func fieldError(_ change: (inout Field) -> Void) -> String? {
    error { file in
      var field = Field()
      field.name = "f"
      field.number = 1
      field.label = .optional
      field.type = .int32
      change(&field)
      file.messageType[0].field = [field]
    }
  }

  @Test("A valid request has no error")
  func sane() {
    #expect(error { _ in } == nil)
    #expect(fieldError { _ in } == nil)
  }

  @Test("Missing types are errors")
  func danglingTypes() {
    #expect(
      fieldError {
        $0.type = .message
        $0.typeName = ".p.Nowhere"
      } == "p.M.f: the type '.p.Nowhere' is not in the request"
    )
    #expect(
      fieldError {
        $0.type = .enum
        $0.typeName = ".p.M"
      } == "p.M.f: '.p.M' is not an enum"
    )
    #expect(fieldError { $0.clearType() } == "p.M.f: the field has no type")
    #expect(fieldError { $0.type = .message } == "p.M.f: the field has no type")
    #expect(error { $0.extension = [.with { $0.name = "x" }] } == "p.x: the type '' is not in the request")
  }

  @Test("Numbers, indexes and ranges out of bounds are errors")
  func bounds() {
    #expect(fieldError { $0.number = 0 } == "p.M.f: 0 is not a valid field number")
    #expect(fieldError { $0.number = -1 } == "p.M.f: -1 is not a valid field number")
    #expect(fieldError { $0.oneofIndex = 0 } == "p.M.f: the message has no oneof 0")
    #expect(fieldError { $0.oneofIndex = -1 } == "p.M.f: the message has no oneof -1")
    #expect(
      error { file in
        file.messageType[0].extensionRange = [
          .with {
            $0.start = 5
            $0.end = 5
          }
        ]
      } == "p.M: an extension range is out of bounds"
    )
  }

  /// The generator's error for a message `p.M` with the MessageSet wire format, and an extension of it.
  private func messageSetError(
    _ changeMessage: (inout Google_Protobuf_DescriptorProto) -> Void = { _ in },
    _ changeExtension: (inout Field) -> Void = { _ in }
  ) -> String? {
    error { file in
      file.syntax = "proto2"
      file.messageType[0].options.messageSetWireFormat = true
      file.messageType[0].extensionRange = [.with { ($0.start, $0.end) = (4, .max) }]
      changeMessage(&file.messageType[0])
      file.messageType.append(.with { $0.name = "Item" })
      var field = Field.with {
        ($0.name, $0.extendee, $0.number, $0.label) = ("item", ".p.M", .max - 1, .optional)
        ($0.type, $0.typeName) = (.message, ".p.Item")
      }
      changeExtension(&field)
      file.extension = [field]
    }
  }

  @Test("A MessageSet has no fields, and only optional messages extend it")
  func messageSets() {
    #expect(messageSetError() == nil)
    let kinds: [(inout Field) -> Void] = [
      { $0.type = .int32 }, { $0.type = .string }, { $0.type = .group }, { $0.label = .repeated },
      { $0.label = .required },
    ]
    for change in kinds {
      #expect(
        messageSetError({ _ in }, change) == "p.item: extensions of 'p.M' must be optional messages"
      )
    }
    #expect(
      messageSetError { message in
        message.field = [.with { ($0.name, $0.number, $0.label, $0.type) = ("f", 1, .optional, .int32) }]
      } == "p.M: a message with the MessageSet wire format cannot have fields"
    )
  }

  @Test("Extensions have numbers that the message leaves to them", arguments: [(99, 200), (200, 200)])
  func extensionNumbers(number: Int32, end: Int32) {
    func error(_ change: (inout File) -> Void) -> String? {
      self.error { file in
        file.syntax = "proto2"
        file.messageType[0].extensionRange = [.with { ($0.start, $0.end) = (100, end) }]
        file.extension = [
          .with {
            ($0.name, $0.extendee, $0.number, $0.label, $0.type) = ("x", ".p.M", 100, .optional, .int32)
          }
        ]
        change(&file)
      }
    }
    #expect(error { _ in } == nil)
    #expect(error { $0.extension[0].number = number } == "p.x: 'p.M' does not leave \(number) to extensions")
    #expect(
      error { $0.messageType[0].extensionRange[0].end = 1 << 29 + 1 }
        == "p.M: an extension range is out of bounds"
    )
  }

  @Test("Invalid names are errors", arguments: ["", "a b", "1a", "a\"", "é", "a.b"])
  func names(name: String) {
    #expect(fieldError { $0.name = name } != nil)
    #expect(error { $0.messageType[0].name = name } != nil)
    #expect(error { $0.enumType[0].name = name } != nil)
    #expect(error { $0.enumType[0].value[0].name = name } != nil)
    #expect(error { $0.messageType[0].oneofDecl = [.with { $0.name = name }] } != nil)
  }

  @Test("Repeated and missing declarations are errors")
  func repetitions() {
    #expect(error { $0.messageType.append($0.messageType[0]) } == "the type 'p.M' is in the request twice")
    #expect(error { $0.enumType[0].value = [] } == "the enum 'p.E' has no values")
    let file = File.with { $0.name = "a.proto" }
    #expect(error([file, file]) == "a.proto: the file is in the request twice")
    #expect(error([]) == "a.proto: the file to generate is not in the request")
    #expect(error([file], generate: ["a.proto", "a.proto"]) != nil)
  }

  @Test("Invalid map entries are errors")
  func maps() {
    func entry(_ change: (inout Google_Protobuf_DescriptorProto) -> Void) -> String? {
      error { file in
        var entry = Google_Protobuf_DescriptorProto()
        entry.name = "FEntry"
        entry.options.mapEntry = true
        change(&entry)
        file.messageType[0].nestedType = [entry]
        file.messageType[0].field = [
          .with {
            $0.name = "f"
            $0.number = 1
            $0.label = .repeated
            $0.type = .message
            $0.typeName = ".p.M.FEntry"
          }
        ]
      }
    }
    #expect(entry { _ in } == "p.M.f: the type of the field is a map entry, but the field is not a map")
    #expect(entry { $0.field = [] } != nil)
  }

  @Test("Invalid defaults are errors", arguments: ["x", "1.5", "99999999999", "\\"])
  func defaults(text: String) {
    #expect(fieldError { $0.defaultValue = text } == "p.M.f: '\(text)' is not a valid default for the type")
  }

  @Test("Too deeply nested messages are an error")
  func nesting() {
    var message = Google_Protobuf_DescriptorProto.with { $0.name = "M" }
    for _ in 0..<500 {
      let inner = message
      message = .with {
        $0.name = "M"
        $0.nestedType = [inner]
      }
    }
    #expect(error { $0.messageType = [message] }?.hasSuffix("messages are nested too deep") == true)
  }

  @Test("A long chain of messages that hold one another takes no stack")
  func longChain() {
    let count = 20_000
    #expect(
      error { file in
        file.messageType = (0..<count).map { index in
          .with {
            $0.name = "M\(index)"
            guard index + 1 < count else { return }
            $0.field = [
              .with {
                $0.name = "next"
                $0.number = 1
                $0.label = .optional
                $0.type = .message
                $0.typeName = ".p.M\(index + 1)"
              }
            ]
          }
        }
      } == nil
    )
  }

  @Test("A message may have only so many fields", arguments: [(16_384, true), (16_385, false)])
  func manyFields(count: Int32, isAccepted: Bool) {
    let error = error { file in
      file.messageType[0].field = (1...count).map { number in
        .with {
          $0.name = "f\(number)"
          $0.number = number
          $0.label = .optional
          $0.type = .bool
        }
      }
    }
    #expect(error == (isAccepted ? nil : "p.M: the message has too many fields or oneofs"))
  }

  @Test("Unknown dialects are errors")
  func dialects() {
    #expect(error { $0.syntax = "proto4" } == "a.proto: syntax 'proto4' is not supported")
    #expect(
      error {
        $0.syntax = "editions"
        $0.edition = .max
      } == "a.proto: the edition with the number 2147483647 is not supported: use edition 2023 or 2024"
    )
    #expect(
      error {
        $0.syntax = "editions"
        $0.edition = .edition2026
      } == "a.proto: edition 2026 is not supported: use edition 2023 or 2024"
    )
    #expect(error { $0.options.swiftPrefix = "a b" } != nil)
  }

  @Test("Invalid bytes are an error")
  func bytes() {
    #expect(throws: GeneratorError.self) { try Generator.respond(to: [0xFF, 0xFF]) }
  }
}

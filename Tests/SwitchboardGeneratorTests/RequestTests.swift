import SwitchboardDescriptors
import SwitchboardGenerator
import SwitchboardProtobuf
import Testing

/// The generator reads descriptors itself, and accepts and refuses the bytes that the message runtime does.
@Suite("Reading requests") struct RequestTests {
  private typealias Request = Google_Protobuf_Compiler_CodeGeneratorRequest

  private static let sample = Request.with {
    $0.fileToGenerate = ["a.proto"]
    $0.parameter = "Visibility=Public"
    $0.protoFile = [
      .with { file in
        file.name = "a.proto"
        file.syntax = "proto3"
        file.messageType = [
          .with {
            $0.name = "M"
            $0.field = [
              .with {
                $0.name = "f"
                $0.number = 1
                $0.type = .string
                $0.label = .optional
                $0.options.packed = false
              }
            ]
          }
        ]
        file.sourceCodeInfo.location = [
          .with {
            $0.path = [4, 0]
            $0.leadingComments = " A comment.\n"
          }
        ]
      }
    ]
  }

  /// Both would be called by one method of the client.
  @Test("Methods that differ in the case of their first letter are an error, where their code is generated")
  func twins() throws {
    var request = Self.sample
    request.protoFile[0].service = [
      .with { service in
        service.name = "S"
        service.method = ["Foo", "FOO", "foo"].map { name in
          .with {
            $0.name = name
            $0.inputType = ".M"
            $0.outputType = ".M"
          }
        }
      }
    ]
    let error = #expect(throws: GeneratorError.self) {
      try Generator(request: try request.serializedBytes()).files()
    }
    #expect(
      error?.description
        == "a.proto: the methods Foo and foo of S differ only in their first letter's case, so that both would be called "
        + "by makeFooCall: rename one"
    )
    request.parameter = "Services=false"
    #expect(try Generator(request: try request.serializedBytes()).files().count == 1)
    request.parameter = ""
    request.protoFile[0].service[0].method.removeLast()
    let code = try #require(try Generator(request: try request.serializedBytes()).files().last?.content)
    #expect(code.contains("func makeFooCall(") && code.contains("func makeFOOCall("))
  }

  @Test("Two fields with one name in JSON are reported, if one of them was given it")
  func namesInJSON() throws {
    var request = Self.sample
    func errors(_ fields: [(name: String, json: String)]) throws -> String? {
      request.protoFile[0].messageType[0].field = fields.enumerated().map { index, field in
        .with {
          $0.name = field.name
          $0.jsonName = field.json
          $0.number = Int32(index + 1)
          $0.label = .optional
          $0.type = .int32
        }
      }
      do { _ = try Generator(request: try request.serializedBytes()).files() } catch { return "\(error)" }
      return nil
    }
    let name = request.protoFile[0].messageType[0].name
    #expect(
      try errors([("a_b", "aB"), ("c", "aB")]) == "\(name).c: the field 'a_b' has the JSON name 'aB' too"
    )
    #expect(try errors([("a", "x"), ("b", "x")]) == "\(name).b: the field 'a' has the JSON name 'x' too")
    #expect(try errors([("a", "x"), ("b", "y")]) == nil)
    // proto2 allows what has not been given.
    #expect(try errors([("a_b", "aB"), ("aB", "aB")]) == nil)
  }

  @Test("Composed names are those of grpc-swift, whatever the case of a method's first letter")
  func composedNames() throws {
    var request = Self.sample
    request.parameter = "TestClient=true"
    request.protoFile[0].service = [
      .with { service in
        service.name = "S"
        service.method = [
          .with {
            $0.name = "createTopic"
            $0.inputType = ".M"
            $0.outputType = ".M"
          }
        ]
      }
    ]
    let code = try #require(try Generator(request: try request.serializedBytes()).files().last?.content)
    for name in [
      "makeCreateTopicCall(", "makeCreateTopicInterceptors(", "makeCreateTopicResponseStream(",
      "enqueueCreateTopicResponse(", "enqueueCreateTopicError(", "func createTopic(", "\"createTopic\"",
      "hasCreateTopicResponsesRemaining:",
    ] { #expect(code.contains(name), "\(name)") }
    #expect(!code.contains("makecreateTopic"))
  }

  /// What is left of the sample cannot always be read; both must say so of the same inputs.
  @Test("Exactly the requests that the runtime decodes can be read")
  func truncated() throws {
    let bytes: [UInt8] = try Self.sample.serializedBytes()
    for end in bytes.indices {
      let input = Array(bytes[..<end])
      let decodes = (try? Request(serializedBytes: input)) != nil
      #expect(((try? GeneratorRequest(input)) != nil) == decodes, "the first \(end) bytes")
    }
  }

  @Test("Unknown fields are skipped, groups too")
  func unknownFields() throws {
    let bytes: [UInt8] = try Self.sample.serializedBytes()
    // Numbers of all widths, bytes, and a group in a group.
    let unknown: [UInt8] = [
      0xA0, 0x06, 0x96, 0x01, 0xA1, 0x06, 1, 2, 3, 4, 5, 6, 7, 8, 0xA5, 0x06, 1, 2, 3, 4, 0xA2, 0x06, 1, 0xFF,
      0xA3, 0x06, 0xAB, 0x06, 0x08, 1, 0xAC, 0x06, 0xA4, 0x06,
    ]
    #expect("\(try GeneratorRequest(unknown + bytes).files.map(\.name))" == #"["a.proto"]"#)
    let expected = try Generator(request: Self.sample).files()
    #expect(try Generator(request: unknown + bytes + unknown).files() == expected)
  }

  @Test("A message field that occurs twice is merged")
  func merged() throws {
    let first = Request.with { $0.parameter = "Visibility=Internal" }
    let bytes: [UInt8] = try first.serializedBytes()
    #expect(
      try Generator(request: bytes + Self.sample.serializedBytes()).files()
        == Generator(request: Self.sample).files()
    )
  }

  @Test(
    "Bytes that are no message",
    arguments: [
      [0x00], [0x07, 0], [0x0E], [0x0F, 0], [0x0C], [0x0B], [0x0B, 0x14], [0x09, 1], [0x0D, 1],
      Array(repeating: 0x80, count: 11), Array(repeating: 0x0B, count: 200),
      // A path in the source whose last number does not end.
      [0x7A, 7, 0x4A, 5, 0x0A, 3, 0x0A, 1, 0x80],
    ] as [[UInt8]]
  )
  func malformed(bytes: [UInt8]) {
    #expect(throws: GeneratorError.self) { try GeneratorRequest(bytes) }
    #expect(throws: DecodeError.self) { try Request(serializedBytes: bytes) }
  }
}

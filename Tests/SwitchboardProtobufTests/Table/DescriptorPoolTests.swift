import SwitchboardDescriptors
import SwitchboardProtobuf
import TestSupport
import Testing

/// Descriptors from outside: what contradicts itself is refused, and nothing ends the process.
@Suite struct DescriptorPoolTests {
  private func file(_ name: String, imports: [String] = []) -> Google_Protobuf_FileDescriptorProto {
    .with {
      $0.name = name
      $0.dependency = imports
    }
  }

  private func refusal(_ files: [Google_Protobuf_FileDescriptorProto]) -> String? {
    do throws(DescriptorError) {
      _ = try DescriptorPool(files)
      return nil
    } catch {
      return error.description
    }
  }

  private func refusal(_ populate: (inout Google_Protobuf_FileDescriptorProto) -> Void) -> String? {
    var only = file("a.proto")
    populate(&only)
    return refusal([only])
  }

  @Test func filesMayComeInAnyOrder() throws {
    var first = file("a.proto", imports: ["b.proto"])
    first.messageType = [TestPool.message("A", [TestPool.field("b", 1, .message, typeName: ".B")])]
    var second = file("b.proto")
    second.messageType = [TestPool.message("B", [])]
    let pool = try DescriptorPool([first, second, first])
    let a = try #require(pool.messageType(named: "A"))
    #expect(a.field(named: "b").flatMap(a.message(of:))?.fullName == "B")
    #expect(pool.messageTypes.map(\.fullName) == ["A", "B"])
  }

  @Test func refusesFilesThatDoNotFit() {
    #expect(refusal([file("a.proto", imports: ["b.proto"])]) == "a.proto: imports b.proto, which is missing")
    let cycle = [file("a.proto", imports: ["b.proto"]), file("b.proto", imports: ["a.proto"])]
    #expect(refusal(cycle) == "b.proto: imports a.proto, which imports it")
    #expect(refusal([file("a.proto", imports: ["a.proto"])]) == "a.proto: imports a.proto, which imports it")
    var other = file("a.proto")
    other.package = "other"
    #expect(refusal([file("a.proto"), other]) == "a.proto: two files have this name but differ")
    #expect(refusal { $0.syntax = "proto9" } == "a.proto: syntax 'proto9' is not supported")
  }

  @Test func refusesNamesThatAreTaken() {
    #expect(
      refusal { $0.messageType = [TestPool.message("A", []), TestPool.message("A", [])] }
        == "a.proto: A is declared twice"
    )
    #expect(
      refusal {
        $0.messageType = [
          TestPool.message("A", [TestPool.field("x", 1, .bool), TestPool.field("x", 2, .bool)])
        ]
      } == "a.proto: A.x is declared twice"
    )
    #expect(
      refusal {
        $0.messageType = [
          TestPool.message("A", [TestPool.field("x", 1, .bool), TestPool.field("y", 1, .bool)])
        ]
      } == "a.proto: A: two fields have the number 1"
    )
  }

  @Test(arguments: [Int32.min, -1, 0, 1 << 29, .max])
  func refusesNumbersOutOfRange(_ number: Int32) {
    let text = refusal { $0.messageType = [TestPool.message("A", [TestPool.field("x", number, .bool)])] }
    #expect(text == "a.proto: A.x has the number \(number), which is not valid")
  }

  @Test func refusesTypesThatAreMissing() {
    for type in [Google_Protobuf_FieldDescriptorProto.TypeEnum.message, .group, .enum] {
      let text = refusal {
        $0.messageType = [TestPool.message("A", [TestPool.field("x", 1, type, typeName: ".Nobody")])]
      }
      #expect(text == "a.proto: A.x has the type '.Nobody', which is not declared")
    }
  }

  @Test func refusesOneofsThatDoNotExist() {
    for index in [Int32.min, -1, 1, .max] {
      let text = refusal {
        var field = TestPool.field("x", 1, .bool)
        field.oneofIndex = index
        var message = TestPool.message("A", [field])
        message.oneofDecl = [.with { $0.name = "one" }]
        $0.messageType = [message]
      }
      #expect(text != nil, "\(index)")
    }
  }

  /// Each would take memory in every message, although no field is in it.
  @Test func refusesManyOneofsWithoutMembers() {
    let text = refusal {
      var message = TestPool.message("A", [TestPool.field("x", 1, .bool)])
      message.oneofDecl = (0..<20_000).map { number in .with { $0.name = "one\(number)" } }
      $0.messageType = [message]
    }
    #expect(text == "a.proto: A: the message has too many fields or oneofs")
  }

  @Test func refusesMalformedMaps() {
    for keyType in [Google_Protobuf_FieldDescriptorProto.TypeEnum.float, .bytes] {
      let text = refusal {
        var entry = TestPool.message(
          "E",
          [TestPool.field("key", 1, keyType), TestPool.field("value", 2, .bool)]
        )
        entry.options.mapEntry = true
        $0.messageType = [
          entry, TestPool.message("A", [TestPool.field("m", 1, .message, typeName: ".E", label: .repeated)]),
        ]
      }
      #expect(text == "a.proto: A.m is a map whose entries are malformed")
    }
  }

  @Test func refusesDefaultsOfOtherTypes() {
    let text = refusal {
      var field = TestPool.field("x", 1, .int32)
      field.defaultValue = "2147483648"
      $0.messageType = [TestPool.message("A", [field])]
    }
    #expect(text == "a.proto: A.x has the default '2147483648', which is not a value of its type")
  }

  @Test func rejectsExtensionsOfMessagesWithoutExtensionRanges() {
    let text = refusal {
      $0.messageType = [TestPool.message("A", [])]
      var field = TestPool.field("x", 1, .bool)
      field.extendee = ".A"
      $0.extension = [field]
    }
    #expect(text == "a.proto: x has a number that A does not leave to extensions")
  }

  @Test func deepDeclarationsAndRecursiveTypesAreCounted() throws {
    var deep = TestPool.message("M", [])
    for _ in 0..<100 {
      var outer = TestPool.message("M", [])
      outer.nestedType = [deep]
      deep = outer
    }
    let text = refusal { [deep] in $0.messageType = [deep] }
    #expect(text?.hasSuffix("messages are nested too deep") == true)
    // Two types that hold and require each other.
    let pool = try TestPool.pool(syntax: "proto2") {
      $0.messageType = [
        TestPool.message("A", [TestPool.field("b", 1, .message, typeName: ".B", label: .required)]),
        TestPool.message("B", [TestPool.field("a", 1, .message, typeName: ".A", label: .required)]),
      ]
    }
    let a = try #require(pool.messageType(named: "A"))
    #expect(!DynamicMessage(a).isInitialized)
    #expect(throws: DecodeError.self) { try DynamicMessage(a, serializedBytes: [0x0A, 0]) }
  }

  @Test func manyFieldsHaveDistantSlots() throws {
    func pool(_ count: Int32) throws -> DescriptorPool {
      try TestPool.pool {
        $0.messageType = [
          TestPool.message("A", (1...count).map { TestPool.field("f\($0)", $0 * 7, .string) })
        ]
      }
    }
    let type = try #require(pool(10_000).messageType(named: "A"))
    var message = DynamicMessage(type)
    try message.set("f1", to: .string("the first, of more than fifteen bytes"))
    try message.set("f10000", to: .string("the last, of more than fifteen bytes"))
    #expect(try DynamicMessage(type, serializedBytes: message.serializedBytes()) == message)
    #expect(throws: DescriptorError.self) { try pool(20_000) }
  }

  @Test func featuresDecidePresence() throws {
    func type(_ presence: Google_Protobuf_FeatureSet.FieldPresence) throws -> MessageTable {
      let pool = try TestPool.pool(syntax: "editions") {
        $0.edition = .edition2023
        var field = TestPool.field("x", 1, .int32)
        field.options.features.fieldPresence = presence
        $0.messageType = [TestPool.message("A", [field])]
      }
      return try #require(pool.messageType(named: "A"))
    }
    #expect(try DynamicMessage(type(.explicit), serializedBytes: [8, 0]).serializedBytes() == [8, 0])
    #expect(try DynamicMessage(type(.implicit), serializedBytes: [8, 0]).serializedBytes() == [])
    #expect(throws: DecodeError.self) { try DynamicMessage(type(.legacyRequired), serializedBytes: []) }
  }

  @Test func damagedDescriptorsAreReadOrRefused() throws {
    var random = SeededGenerator(seed: 13)
    let bytes = try Google_Protobuf_FileDescriptorSet.with { $0.file = TestPool.files }.serializedBytes()
    for _ in 0..<300 {
      var damaged = bytes
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard let set = try? Google_Protobuf_FileDescriptorSet(serializedBytes: damaged, partial: true),
        let pool = try? DescriptorPool(set)
      else { continue }
      for type in pool.messageTypes { _ = try? DynamicMessage(type, serializedBytes: damaged, partial: true) }
    }
  }

  @Test func anAnyHoldsTypesOfThePool() throws {
    let pool = try DescriptorPool(TestPool.files)
    #expect(pool.enumType(named: "Nobody") == nil)
    let note = try TestPool.pool {
      $0.messageType = [TestPool.message("Note", [TestPool.field("text", 1, .string)])]
    }
    var options = JSONDecodingOptions()
    options.typeRegistry = note.typeRegistry
    let any = try Google_Protobuf_Any(jsonString: #"{"@type": "x/Note", "text": "hello"}"#, options: options)
    #expect(any.value == [0x0A, 5] + Array("hello".utf8))
    var writing = JSONEncodingOptions()
    writing.typeRegistry = note.typeRegistry
    #expect(try any.jsonString(options: writing) == #"{"@type":"x/Note","text":"hello"}"#)
    var textOptions = TextFormatEncodingOptions()
    textOptions.typeRegistry = note.typeRegistry
    let text = any.textFormatString(options: textOptions)
    #expect(text == "[x/Note] {\n  text: \"hello\"\n}\n")
    var reading = TextFormatDecodingOptions()
    reading.typeRegistry = note.typeRegistry
    #expect(try Google_Protobuf_Any(textFormatString: text, options: reading) == any)
  }
}

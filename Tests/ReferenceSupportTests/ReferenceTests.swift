import Foundation
import ReferenceSupport
import Testing

/// Tests the reference itself: each format and option must reach libprotobuf.
@Suite struct ReferenceTests {
  private let reference: Reference

  init() throws {
    let folder = NSTemporaryDirectory() + "reference-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let source = """
      syntax = "proto2";
      package t;
      import "google/protobuf/any.proto";
      import "google/protobuf/duration.proto";
      enum Kind { ZERO = 0; ONE = 1; }
      message M {
        required int32 some_number = 1;
        optional Kind kind = 2;
        map<string, int32> counts = 3;
        optional google.protobuf.Any any = 4;
        optional google.protobuf.Duration wait = 5;
        extensions 100 to 200;
      }
      extend M { optional string extra = 100; }
      message Deep { optional Deep d = 1; }
      """
    try Data(source.utf8).write(to: URL(fileURLWithPath: folder + "/t.proto"))
    reference = try Reference(protos: ["t.proto"], includeDirectories: [folder])
  }

  private func convert(
    _ input: String,
    _ from: Reference.Format,
    _ to: Reference.Format,
    _ change: (inout Reference.Options) -> Void = { _ in }
  ) throws -> Reference.Conversion {
    var options = Reference.Options()
    change(&options)
    return try reference.convert("t.M", from: from, Array(input.utf8), to: to, options: options)
  }

  @Test func readsAndWritesEveryFormat() throws {
    let text =
      "some_number: 7 kind: ONE counts { key: \"b\" value: 2 } counts { key: \"a\" value: 1 } [t.extra]: \"x\""
    let binary = try convert(text, .text, .binary)
    #expect(
      binary.bytes == [8, 7, 16, 1, 26, 5, 10, 1, 97, 16, 1, 26, 5, 10, 1, 98, 16, 2, 162, 6, 1, 120]
    )
    let json = try reference.convert("t.M", from: .binary, binary.bytes, to: .json).string
    #expect(json == #"{"someNumber":7,"kind":"ONE","counts":{"a":1,"b":2}}"#)
    let back = try convert(json, .json, .binary)
    #expect(back.bytes == Array(binary.bytes.dropLast(4)))
  }

  @Test func appliesTheOptions() throws {
    let input = "some_number: 7 kind: ONE"
    #expect(try convert(input, .text, .json) { $0.preserveFieldNames = true }.string.contains("some_number"))
    #expect(try convert(input, .text, .json) { $0.enumsAsIntegers = true }.string.contains(#""kind":1"#))
    #expect(try convert(input, .text, .text) { $0.singleLine = true }.string == input + " ")
    #expect(
      try convert(#"{"someNumber":7,"new":1}"#, .json, .text) { $0.ignoreUnknownFields = true }.string
        == "some_number: 7\n"
    )
    #expect(throws: Reference.Failure.self) { try convert(#"{"someNumber":7,"new":1}"#, .json, .text) }
  }

  @Test func knowsTheWellKnownTypes() throws {
    let json = #"{"someNumber":1,"any":{"@type":"type.googleapis.com/t.M","someNumber":2},"wait":"1.500s"}"#
    #expect(try convert(json, .json, .json).string == json)
  }

  @Test func reportsWhetherRequiredFieldsAreSet() throws {
    #expect(try convert("some_number: 7", .text, .binary).isInitialized)
    #expect(try !convert("kind: ONE", .text, .binary).isInitialized)
  }

  @Test func rejectsMalformedInput() throws {
    for format in Reference.Format.allCases {
      #expect(throws: Reference.Failure.self) { try convert("{\u{7}", format, .binary) }
    }
    #expect(throws: Reference.Failure.self) { try reference.convert("t.Gone", from: .binary, [], to: .text) }
    #expect(throws: Reference.Failure.self) { try Reference(descriptorSet: [10, 200]) }
  }

  @Test func limitsNestingToOneHundredLevels() throws {
    func nested(_ depth: Int) -> [UInt8] {
      var bytes: [UInt8] = []
      for _ in 0..<depth {
        let length = UInt8(bytes.count & 127)
        let prefix: [UInt8] = bytes.count < 128 ? [length] : [length | 128, UInt8(bytes.count >> 7)]
        bytes = [10] + prefix + bytes
      }
      return bytes
    }
    #expect(try reference.convert("t.Deep", from: .binary, nested(100), to: .binary).bytes == nested(100))
    #expect(throws: Reference.Failure.self) {
      try reference.convert("t.Deep", from: .binary, nested(101), to: .binary)
    }
  }
}

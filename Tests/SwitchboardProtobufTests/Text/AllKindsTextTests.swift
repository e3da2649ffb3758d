import Foundation
import ReferenceSupport
import TestMessages
import Testing

@testable import SwitchboardProtobuf

/// Generated messages with every kind of field in the text format, compared with libprotobuf: each field gets each of
/// many values, most of which are invalid for it.
@Suite struct AllKindsTextTests {
  private let reference: Reference

  init() throws {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let protos = tests.deletingLastPathComponent().deletingLastPathComponent().appending(path: "Protos")
    reference = try Reference(
      protos: ["testing/all_kinds_2.proto", "testing/all_kinds_3.proto"],
      includeDirectories: [protos.path(percentEncoded: false)]
    )
  }

  private static let values = [
    "0", "1", "-1", "1.5", "-0", "4294967295", "99999999999999999999999", "inf", "true", "RED", "BLUE",
    "THIRD",
    "OUTER_COLOR2_CYAN", "NULL_VALUE", "'a'", "'\\303\\251' 'b'", "[1, 2]", "[0.5, 1e10]", "['a', 'b']",
    "[true, false]", "[GREEN, NEGATIVE]", "{}", "{ a: 1 }", "{ c: -1 text: 'x' }", "{ value: 1 }", "[{}]",
    "{ value: 'a' }", "{ key: 1 value: 1 }", "{ key: true value: true }", "{ key: 'k' value: 'v' }",
    "{ key: 'k' value: {} }", "{ key: 'k' value: 1 }", "{ key: 'k' value: RED }", "{ key: 1 value: 0.5 }",
    "{ group_int32: 7 }", "{ seconds: 1 nanos: -1 }", "{ paths: 'a' paths: 'b' }", "{ number: 3 }",
    "{ fields { key: 'a' value { list_value { values { number_value: 1 } } } } }", "{ Inner { text: 'q' } }",
    "{ type_url: 'x/y' value: '\\001' }", "{ [type.googleapis.com/switchboard.testing.Outer3] { c: 1 } }",
    "{ outer { one_int32: 1 recursive { many_int32: [1] } } }", "{ key: 1 value { type_url: 'a' } }",
    "{ [switchboard.testing.AllKinds2.SetExtension1] { text: 't' } }", "{ text: 'a' }",
  ]

  @Test func readsAndWritesFieldsAlike() throws {
    try compareFields(of: Switchboard_Testing_AllKinds3.self)
    try compareFields(of: Switchboard_Testing_AllKinds2.self)
  }

  private func compareFields<M: Message>(of type: M.Type) throws {
    let names = (Int32(1)...700).compactMap { M._table.names.textName(of: $0) }
    #expect(names.count > 80)
    for name in names {
      for value in AllKindsTextTests.values { try compare("\(name): \(value)", as: type) }
    }
  }

  @Test func readsAndWritesExtensionsAlike() throws {
    let names = [
      "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64",
      "float", "double", "bool", "string", "bytes", "outer", "color", "many_int32", "many_sint64",
      "many_fixed64", "many_double", "many_bool", "many_string", "many_bytes", "many_outer2",
      "many_outercolor2", "packed_int32", "packed_fixed32", "packed_float", "packed_bool",
      "packed_outercolor2", "default", "default_text", "default_color", "required", "between", "far",
    ]
    let others = [
      "extensiongroup", "extensionmanygroup", "ExtensionGroup", "ExtensionManyGroup", "Scope2.scoped_number",
      "Scope2.scoped_messages", "Outer2",
    ]
    for name in names.map({ "extension_\($0)" }) + others {
      for value in AllKindsTextTests.values {
        try compare("[switchboard.testing.\(name)]: \(value)", as: Switchboard_Testing_AllKinds2.self)
      }
    }
  }

  @Test func readsAndWritesGroupsAlike() throws {
    for text in [
      "ChoiceGroup { group_int32: 1 }", "Data {}", "Data: < group_uint32: 2 >", "DATA {}",
      "MultiWordGroupField { group_int32: 1 }", "ManyData { value: 1 Inner { text: 'a' } } ManyData {}",
      "choice_uint32: 1 choice_bool: true", "choice_uint32: 0 ChoiceGroup {}",
    ] {
      try compare(text, as: Switchboard_Testing_AllKinds2.self)
    }
  }

  /// libprotobuf 3.21 rejects this, later versions accept it.
  @Test func groupsGoByTheNameOfTheirFieldsToo() throws {
    let message = try Switchboard_Testing_AllKinds2(textFormatString: "data { group_int32: 1 }")
    #expect(message.textFormatString() == "Data {\n  group_int32: 1\n}\n")
  }

  @Test func passesOverReservedNames() throws {
    try compare(
      "reserved_field: { a: 123 } old_field: -inf one_int32: 1",
      as: Switchboard_Testing_AllKinds3.self
    )
  }

  private func compare<M: Message>(_ text: String, as type: M.Type) throws {
    var options = TextFormatDecodingOptions()
    options.typeRegistry = [Switchboard_Testing_Outer3.self]
    let extensions = Switchboard_Testing_AllKinds2_Extensions
    let ours = Result {
      try M(textFormatString: text, extensions: extensions, partial: true, options: options)
    }
    let input = Array(text.utf8)
    let theirs = Result { try reference.convert(M.protoMessageName, from: .text, input, to: .binary).bytes }
    switch (ours, theirs) {
    case (.success(let message), .success(let bytes)):
      #expect(try message.serializedBytes(partial: true) == bytes, "\(text)")
      let written = try reference.convert(M.protoMessageName, from: .text, input, to: .text).string
      let escaped = message.textFormatString().replacing("é", with: "\\303\\251")
      #expect(escaped == written)
    case (.failure, .failure): break
    default: Issue.record("\(text): ours \(ours), theirs \(theirs)")
    }
  }
}

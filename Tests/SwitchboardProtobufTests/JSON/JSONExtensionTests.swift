import SwitchboardProtobuf
import TestMessages
import Testing

/// Extensions, groups and other features of proto2 and editions.
@Suite struct JSONExtensionTests {
  private static let extensions = Switchboard_Testing_AllKinds2_Extensions

  @Test(arguments: [
    JSONCase(#"{"[switchboard.testing.extension_int32]":1}"#),
    JSONCase(
      #"{"oneInt32":0,"[switchboard.testing.extension_int64]":"1","[switchboard.testing.extension_bytes]":"AQI="}"#
    ),
    JSONCase(
      #"{"[switchboard.testing.extension_outer]":{"c":1},"[switchboard.testing.extension_many_int32]":[1,2]}"#
    ),
    JSONCase(
      #"{"[switchboard.testing.extensiongroup]":{"number":1},"[switchboard.testing.Scope2.scoped_number]":5}"#
    ),
    JSONCase(
      #"{"[switchboard.testing.extension_\u0069nt32]":1}"#,
      #"{"[switchboard.testing.extension_int32]":1}"#
    ),
    JSONCase(#"{"[switchboard.testing.extension_int32]":null}"#, "{}"),
    JSONCase(
      #"{"messageSet":{"[switchboard.testing.AllKinds2.SetExtension1.message_set_extension]":{"text":"a"}}}"#
    ),
  ])
  func goByTheirFullNames(_ json: JSONCase) throws {
    try json.check(AllKinds2.self, extensions: JSONExtensionTests.extensions)
  }

  @Test(arguments: [
    #"{"[switchboard.testing.extension_nothing]":1}"#, #"{"[]":1}"#, #"{"[":1}"#, #"{"extension_int32":1}"#,
    #"{"[switchboard.testing.extension_int32]":1,"[switchboard.testing.extension_int32]":1}"#,
    #"{"[switchboard.testing.AllKinds2.SetExtension1.message_set_extension]":{}}"#,
    #"{"[switchboard.testing.extension_int32]":"x"}"#,
  ])
  func areRefusedByOtherNames(_ input: String) {
    #expect(throws: DecodeError.self) {
      try AllKinds2(jsonString: input, extensions: JSONExtensionTests.extensions)
    }
  }

  @Test func areUnknownWithoutARegistry() throws {
    refused(#"{"[switchboard.testing.extension_int32]":1}"#, as: AllKinds2.self)
    try JSONCase(#"{"[switchboard.testing.extension_int32]":1,"oneInt32":1}"#, #"{"oneInt32":1}"#)
      .check(AllKinds2.self, ignoringUnknown: true)
  }

  @Test(arguments: [
    JSONCase(#"{"oneInt32":0,"oneString":"","oneColor":"RED"}"#),
    JSONCase(#"{"data":{"groupInt32":1},"manydata":[{},{}]}"#),
    JSONCase(#"{"choicegroup":{"groupInt32":1}}"#),
  ])
  func proto2KeepsPresenceAndGroups(_ json: JSONCase) throws { try json.check(AllKinds2.self) }

  @Test(arguments: [
    JSONCase(
      #"{"oneInt32":0,"implicitInt32":0,"implicitString":"a"}"#,
      #"{"oneInt32":0,"implicitString":"a"}"#
    ),
    JSONCase(#"{"groupliketype":{"groupInt32":1},"manyDelimited":[{}]}"#),
    JSONCase(#"{"oneClosedColor":1,"manyClosedColor":[1]}"#, nil),
  ])
  func editionsResolveTheirFeatures(_ json: JSONCase) throws {
    var options = JSONEncodingOptions()
    options.alwaysPrintEnumsAsInts = true
    let message = try AllKindsEditions(jsonString: json.input, partial: true)
    #expect(try message.jsonString(partial: true, options: options) == json.output)
  }
}

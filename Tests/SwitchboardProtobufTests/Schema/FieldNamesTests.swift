import Testing

@testable import SwitchboardProtobuf

@Suite struct FieldNamesTests {
  private let names = FieldNames("1:user_id 2:Name:custom%20name 15:optionalgroup::OptionalGroup")

  @Test func knowsEveryFormOfAName() {
    #expect(names.name(of: 1) == "user_id")
    #expect(names.jsonName(of: 1) == "userId")
    #expect(names.jsonName(of: 2) == "custom name")
    #expect(names.textName(of: 15) == "OptionalGroup")
    #expect(names.jsonName(of: 15) == "optionalgroup")
  }

  @Test func findsFieldsByEitherName() {
    #expect(names.number(ofJSONName: "userId") == 1)
    #expect(names.number(ofJSONName: "user_id") == 1)
    #expect(names.number(ofJSONName: "custom name") == 2)
    #expect(names.number(ofTextName: "OptionalGroup") == 15)
    #expect(names.number(ofTextName: "userId") == nil)
  }

  /// The Kelvin sign is equal to the letter K, where strings are compared.
  @Test func findsNoFieldByAnEquivalentName() {
    let keys = FieldNames("1:api_key:apiKey 2:Kind")
    #expect(keys.number(ofJSONName: "apiKey") == 1)
    #expect(keys.number(ofJSONName: "api\u{212A}ey") == nil)
    #expect(keys.number(ofName: "Kind") == 2)
    #expect(keys.number(ofName: "\u{212A}ind") == nil)
    #expect(keys.number(ofTextName: "\u{212A}ind") == nil)
  }

  @Test func namesAnUnknownFieldByItsNumber() {
    #expect(names.name(of: 99) == "99")
    #expect(names.jsonName(of: 99) == nil)
  }

  @Test func prefersTheJSONNameToAnotherFieldsOwnName() {
    let clashing = FieldNames("1:a:b 2:b:c")
    #expect(clashing.number(ofJSONName: "b") == 1)
    #expect(clashing.number(ofJSONName: "c") == 2)
  }

  @Test(arguments: [
    ("foo_bar", "fooBar"), ("_foo", "Foo"), ("foo__bar", "fooBar"), ("foo1_2bar", "foo12bar"),
    ("FooBar", "FooBar"),
    ("foo_", "foo"),
  ])
  func camelCasesAsProtobufDoes(name: String, expected: String) {
    #expect(FieldNames.lowerCamelCase(name) == expected)
  }

  @Test func isEmptyForAMessageWithoutFields() {
    #expect(FieldNames("").number(ofJSONName: "x") == nil)
  }

  @Test func knowsReservedNames() {
    let names = FieldNames("0:old:older 1:name")
    #expect(names.reserves("old") && names.reserves("older"))
    #expect(!names.reserves("name"))
    #expect(names.number(ofTextName: "old") == nil)
    #expect(names.name(of: 0) == "0")
  }
}

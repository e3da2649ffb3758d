import SwitchboardSchema
import Testing

@testable import SwitchboardGenerator

@Suite("Names")
struct NameTests {
  @Test(
    "Fields are in lower camel case",
    arguments: [
      ("user_id", "userID"), ("id_x", "idX"), ("url", "url"), ("base_url", "baseURL"),
      ("http_url", "httpURL"),
      ("fooBar", "fooBar"), ("FooBAR", "fooBar"), ("field_0_name6", "field0Name6"), ("_x", "x"),
      ("a__b", "a_B"),
      ("name_", "name_"), ("_1x", "_1X"), ("_", "_"), ("x1y", "x1Y"), ("idea_list", "ideaList"),
    ]
  )
  func lowerCamelCase(name: String, expected: String) {
    #expect(CamelCase.lower(name) == expected)
  }

  @Test(
    "Packages become prefixes",
    arguments: [("foo.bar_baz", "Foo_BarBaz_"), ("a", "A_"), ("_1a.b", "_1a_B_"), ("1a", "_1a_")]
  )
  func packagePrefix(package: String, expected: String) {
    #expect(SwiftNames.prefix(of: package) == expected)
  }

  @Test("Values lose the name of their enum unless nothing, or a digit, is left")
  func enumCases() {
    let names = EnumCaseNames.assign(
      to: [
        ("FOO_BAR_ONE", 1), ("foobar_two", 2), ("FOO_BAR", 3), ("FOO_BAR_4", 4), ("OTHER", 5),
        ("FOO_BAR_SELF", 6),
        ("FOO_BAR_DEFAULT", 7),
      ],
      of: "FooBar"
    )
    #expect(names == ["one", "two", "fooBar", "fooBar4", "other", "self_", "`default`"])
  }

  @Test("Values that would share a name get their numbers, but aliases are left out")
  func clashingEnumCases() {
    let names = EnumCaseNames.assign(
      to: [("A_X", 1), ("X", 2), ("A_Y", 3), ("Y", 3), ("Z", -1), ("a_z", 4)],
      of: "A"
    )
    #expect(names == ["x_1", "x_2", "y", nil, "z_n1", "z_4"])
  }

  @Test("Reserved names of types get a suffix, and so do names that end in one")
  func reservedTypes() {
    #expect(ReservedWords.typeName("Type", suffix: "Enum", forbidden: []) == "TypeEnum")
    #expect(ReservedWords.typeName("TypeEnum", suffix: "Enum", forbidden: []) == "TypeEnumEnum")
    #expect(ReservedWords.typeName("Shop", suffix: "Message", forbidden: ["Shop"]) == "ShopMessage")
    #expect(ReservedWords.typeName("OrderMessage", suffix: "Message", forbidden: []) == "OrderMessage")
  }

  @Test("Reserved names of properties are quoted, or get a suffix where that does not help")
  func reservedFields() {
    #expect(PropertyNames(base: "default").property == "`default`")
    #expect(PropertyNames(base: "default").has == "hasDefault")
    #expect(PropertyNames(base: "self").property == "self_p")
    #expect(PropertyNames(base: "has_name").property == "hasName_p")
    #expect(PropertyNames(base: "description").clear == "clearDescription_p")
  }
}

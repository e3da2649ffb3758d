import SwitchboardProtobuf
import TestMessages
import Testing

@Suite struct FieldMaskTests {
  private typealias Mask = Google_Protobuf_FieldMask

  @Test(arguments: [
    "one_int32", "one_nested", "one_nested.a", "one_nested.outer.one_nested.outer.many_nested", "many_int32",
    "map_int32_int32", "choice_nested.a", "optional_nested.outer", "one_timestamp.seconds", "field__name4_",
    "one_struct.fields",
  ])
  func knowsThePathsOfAMessage(_ path: String) { #expect(Mask.isPathValid(path, for: AllKinds3.self)) }

  @Test(arguments: [
    "", ".", "oneInt32", "unknown", "one_nested.b", "one_int32.a", "many_nested.a", "map_string_nested.a",
    "one_nested.",
    ".one_nested", "one_nested..a", "choice", "one_color.red", "one_nested.outer.unknown",
  ])
  func knowsOtherPaths(_ path: String) { #expect(!Mask.isPathValid(path, for: AllKinds3.self)) }

  @Test func goesIntoGroups() {
    #expect(Mask.isPathValid("data.group_int32", for: AllKinds2.self))
    #expect(!Mask.isPathValid("manydata.group_int32", for: AllKinds2.self))
    #expect(Mask(protoPaths: "one_nested.a", "recursive").isValid(for: AllKinds2.self))
    #expect(!Mask(protoPaths: "one_nested.a", "x").isValid(for: AllKinds2.self))
  }

  @Test func isMadeOfPaths() {
    #expect(Mask(jsonPaths: ["user.displayName", "a"])?.paths == ["user.display_name", "a"])
    #expect(Mask(jsonPaths: ["user_name"]) == nil)
    #expect(Mask(allFieldsOf: Switchboard_Testing_Outer3.self).paths == ["c", "text"])
  }

  @Test func coversWhatIsWithin() {
    let mask = Mask(protoPaths: "a.b", "c")
    for path in ["a.b", "a.b.x", "c", "c.d.e"] { #expect(mask.contains(path)) }
    for path in ["a", "a.x", "b", "a.bb", ""] { #expect(!mask.contains(path)) }
    #expect(!Mask().contains("a"))
  }

  @Test func combines() {
    let left = Mask(protoPaths: "c", "a.b.x", "a.b", "d.e", "d.f")
    let right = Mask(protoPaths: "a", "d.e.y", "g")
    #expect(left.canonical.paths == ["a.b", "c", "d.e", "d.f"])
    #expect(left.union(right).paths == ["a", "c", "d.e", "d.f", "g"])
    #expect(right.union(left).paths == ["a", "c", "d.e", "d.f", "g"])
    #expect(left.intersection(right).paths == ["a.b", "d.e.y"])
    #expect(right.intersection(left).paths == ["a.b", "d.e.y"])
    #expect(left.subtracting(right).paths == ["c", "d.e", "d.f"])
    #expect(right.subtracting(left).paths == ["a", "g"])
    #expect(Mask().union(left) == left.canonical)
    #expect(Mask().intersection(left).paths == [])
    #expect(left.subtracting(left).paths == [])
    #expect(Mask(protoPaths: "a.b").intersection(Mask(protoPaths: "a.c")).paths == [])
  }
}

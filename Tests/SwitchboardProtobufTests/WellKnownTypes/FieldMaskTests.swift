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

  @Test func mergesGroups() {
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

  @Test func coversNestedFields() {
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

  /// None of these can name a field.
  @Test(arguments: ["", ".", ".a", "a.", "a..b"]) func omitsInvalidPaths(_ path: String) {
    let mask = Mask(protoPaths: path, "a.b")
    #expect(mask.canonical.paths == ["a.b"])
    #expect(mask.union(mask).paths == ["a.b"])
    #expect(mask.intersection(mask).paths == ["a.b"])
    #expect(mask.subtracting(Mask(protoPaths: "a.b")).paths == [])
    #expect(Mask(protoPaths: "a", "a.b").subtracting(Mask(protoPaths: path)).paths == ["a"])
    #expect(!mask.contains(path))
    #expect(!Mask(protoPaths: path).contains("a"))
    #expect(!mask.isValid(for: AllKinds3.self))
  }

  /// Parts are compared, not whole texts: a dot sorts before all characters of names.
  @Test func sortsByParts() {
    let paths = ["a_b", "a.b", "a1", "a", "aB", "b.a", "a.a.c"]
    #expect(Mask(protoPaths: paths).canonical.paths == ["a", "a1", "aB", "a_b", "b.a"])
    let apart = Mask(protoPaths: "a_b", "a1", "a.z", "a.b.c", "aB")
    #expect(apart.canonical.paths == ["a.b.c", "a.z", "a1", "aB", "a_b"])
  }

  // MARK: Untrusted masks

  /// The stack could not hold a frame for each part.
  private static let deep = Mask(protoPaths: String(repeating: "a.", count: 1 << 18) + "a")

  @Test func doesNotRecurseDeeperForLongerPaths() {
    let deep = Self.deep
    #expect(deep.canonical == deep)
    #expect(deep.union(deep) == deep)
    #expect(deep.intersection(Mask(protoPaths: "a.a")) == deep)
    #expect(deep.subtracting(deep).paths == [])
    #expect(deep.subtracting(Mask(protoPaths: "a.b")) == deep)
    #expect(deep.contains(deep.paths[0] + ".a"))
    #expect(!deep.contains("a"))
    #expect(!deep.isValid(for: AllKinds3.self))
  }

  /// A path of that length may still name a field, if messages contain their own type.
  @Test func recursesNoDeeperThanTheMessages() throws {
    let long = Mask(
      protoPaths: String(repeating: "one_nested.outer.", count: 50_000) + "one_string",
      "one_int32"
    )
    #expect(long.isValid(for: AllKinds3.self))
    let source = AllKinds3.with {
      $0.oneInt32 = 1
      $0.oneString = "kept"
      $0.oneNested.outer.oneString = "not reached"
    }
    var target = AllKinds3.with { $0.oneNested.outer.oneInt32 = 7 }
    try target.merge(from: source, fieldMask: long)
    #expect(target.oneInt32 == 1)
    #expect(target.oneString.isEmpty)
    #expect(target.oneNested.outer.oneInt32 == 7)
    var trimmed = source
    let isTrimmed = trimmed.trim(keeping: long)
    #expect(isTrimmed)
    #expect(trimmed.oneInt32 == 1)
    #expect(trimmed.oneString.isEmpty)
    #expect(throws: FieldMaskError.self) { try target.merge(from: source, fieldMask: Self.deep) }
    let isTrimmedAgain = trimmed.trim(keeping: Self.deep)
    #expect(!isTrimmedAgain)
  }

  /// Paths that differ only in their last part; there are as many as they have parts.
  @Test(.needsCosts) func takesTimeInProportionToItsSize() throws {
    let deep = { (count: Int) in Mask(protoPaths: String(repeating: "a.", count: 100 * count) + "a") }
    let wide = { (count: Int) in Mask(protoPaths: (0..<count).map { "some.long.path.\(1000 + $0)" }) }
    let source = AllKinds3.with { $0.oneNested.outer.oneInt32 = 7 }
    for mask in [deep, wide] {
      try CostCheck.check("canonical", mask) { _ = $0.canonical }
      try CostCheck.check("union", mask) { _ = $0.union($0) }
      try CostCheck.check("intersection", mask) { _ = $0.intersection($0) }
      try CostCheck.check("subtracting", mask) { _ = $0.subtracting($0) }
      try CostCheck.check("contains", mask) { _ = $0.contains("b") }
      try CostCheck.check("isValid", mask) { _ = $0.isValid(for: AllKinds3.self) }
      try CostCheck.check("JSON", mask) { _ = try Mask(jsonString: $0.jsonString()) }
    }
    let valid = { (count: Int) in
      Mask(protoPaths: (0..<count).map { String(repeating: "recursive.", count: $0) + "one_int32" })
    }
    try CostCheck.check("merge", factor: 4.4, valid) { mask in
      var target = AllKinds3()
      try target.merge(from: source, fieldMask: mask)
    }
    try CostCheck.check("trim", factor: 4.4, valid) { mask in
      var target = source
      target.trim(keeping: mask)
    }
  }
}

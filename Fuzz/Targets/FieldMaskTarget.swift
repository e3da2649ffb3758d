import SwitchboardProtobuf
import TestMessages

/// Field masks and what is done with them. The input is paths with line feeds between them, and after an empty line those of a
/// second mask.
enum FieldMaskTarget {
  private typealias Mask = Google_Protobuf_FieldMask

  static func run(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let end = lines.firstIndex(of: "") ?? lines.endIndex
    let (left, right) = (Mask(protoPaths: Array(lines[..<end])), Mask(protoPaths: Array(lines[end...])))
    try forms(left)
    try algebra(left, right)
    try messages(left)
  }

  private static func forms(_ mask: Mask) throws {
    let canonical = mask.canonical
    try BrokenPromise.unless(canonical.canonical == canonical, "what is canonical can be made more so")
    try BrokenPromise.unless(
      canonical.paths.allSatisfy(mask.contains),
      "the canonical form has more than the mask"
    )
    try BrokenPromise.unless(
      mask.paths.allSatisfy { mask.contains($0) == canonical.contains($0) },
      "the canonical form has less than the mask"
    )
    guard let json = try? mask.jsonUTF8Bytes() else { return }
    try BrokenPromise.unless(try Mask(jsonUTF8Bytes: json) == mask, "another mask comes back from JSON")
  }

  private static func algebra(_ left: Mask, _ right: Mask) throws {
    let (union, both, rest) = (left.union(right), left.intersection(right), left.subtracting(right))
    try BrokenPromise.unless(union == right.union(left), "the union is another one the other way round")
    try BrokenPromise.unless(both == right.intersection(left), "so is the intersection")
    try BrokenPromise.unless(left.union(left) == left.canonical, "a mask is not its own union")
    try BrokenPromise.unless(left.intersection(left) == left.canonical, "a mask is not its own intersection")
    try BrokenPromise.unless(
      left.subtracting(left).paths.isEmpty,
      "something is left of a mask without itself"
    )
    for path in left.paths + right.paths {
      let (inLeft, inRight) = (left.contains(path), right.contains(path))
      try BrokenPromise.unless(
        union.contains(path) == (inLeft || inRight),
        "the union is wrong about \(path)"
      )
      try BrokenPromise.unless(
        both.contains(path) == (inLeft && inRight),
        "the intersection is wrong about \(path)"
      )
      try BrokenPromise.unless(!inLeft || inRight || rest.contains(path), "the rest lacks \(path)")
    }
  }

  private static func messages(_ mask: Mask) throws {
    let full = Switchboard_Testing_AllKinds3.with {
      $0.oneInt32 = 1
      $0.oneString = "text"
      $0.manyInt32 = [1, 2]
      $0.mapInt32Int32 = [1: 2]
      $0.choiceNested.outer.oneBytes = [1]
      $0.oneNested.outer.oneNested.a = 3
      $0.recursive.recursive.oneTimestamp.seconds = 4
    }
    let isValid = mask.isValid(for: Switchboard_Testing_AllKinds3.self)
    var trimmed = full
    let isTrimmed = trimmed.trim(keeping: mask)
    try BrokenPromise.unless(isTrimmed == (trimmed != full), "to trim says the wrong thing of what it did")
    try BrokenPromise.unless(isValid || !isTrimmed, "a mask that is not valid has been kept to")
    var merged = Switchboard_Testing_AllKinds3()
    let isMerged = (try? merged.merge(from: full, fieldMask: mask)) != nil
    try BrokenPromise.unless(
      isMerged == isValid,
      "a mask that is not valid has been merged by, or a valid one not"
    )
    guard isValid, !mask.paths.isEmpty else { return }
    try BrokenPromise.unless(merged == trimmed, "to merge gives other fields than to keep")
  }
}

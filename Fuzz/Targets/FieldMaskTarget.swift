import SwitchboardProtobuf
import TestMessages

/// Field masks and their operations. The input consists of paths separated by line feeds and, after an empty line, the
/// paths of a second mask.
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
    try BrokenPromise.unless(
      canonical.canonical == canonical,
      "the canonical form of a canonical mask differs"
    )
    try BrokenPromise.unless(
      canonical.paths.allSatisfy(mask.contains),
      "the canonical form covers more than the mask"
    )
    try BrokenPromise.unless(
      mask.paths.allSatisfy { mask.contains($0) == canonical.contains($0) },
      "the canonical form covers less than the mask"
    )
    guard let json = try? mask.jsonUTF8Bytes() else { return }
    try BrokenPromise.unless(
      try Mask(jsonUTF8Bytes: json) == mask,
      "the JSON form reads back as another mask"
    )
  }

  private static func algebra(_ left: Mask, _ right: Mask) throws {
    let (union, both, rest) = (left.union(right), left.intersection(right), left.subtracting(right))
    try BrokenPromise.unless(union == right.union(left), "the union is not commutative")
    try BrokenPromise.unless(both == right.intersection(left), "the intersection is not commutative")
    try BrokenPromise.unless(left.union(left) == left.canonical, "the union of a mask with itself differs")
    try BrokenPromise.unless(
      left.intersection(left) == left.canonical,
      "a mask intersected with itself differs"
    )
    try BrokenPromise.unless(
      left.subtracting(left).paths.isEmpty,
      "a mask without itself is not empty"
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
    try BrokenPromise.unless(isTrimmed == (trimmed != full), "trim returns the wrong result")
    try BrokenPromise.unless(isValid || !isTrimmed, "an invalid mask was applied")
    var merged = Switchboard_Testing_AllKinds3()
    let isMerged = (try? merged.merge(from: full, fieldMask: mask)) != nil
    try BrokenPromise.unless(
      isMerged == isValid,
      "an invalid mask was merged, or a valid one was not"
    )
    guard isValid, !mask.paths.isEmpty else { return }
    try BrokenPromise.unless(merged == trimmed, "merge and trim give different fields")
  }
}

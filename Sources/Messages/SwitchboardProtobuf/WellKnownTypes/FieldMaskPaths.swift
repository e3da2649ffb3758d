/// The paths of a field mask in canonical form: sorted by their parts, without paths that others cover.
///
/// A list rather than a tree, because the input controls how many parts a path has: nothing here recurses over the
/// parts, and once the paths are sorted, each operation looks at each byte at most a few times.
struct FieldMaskPaths {
  private(set) var paths: [String]

  private init(canonical paths: [String]) { self.paths = paths }

  /// The paths of a mask, without invalid ones: empty paths, and paths with an empty part.
  init(_ mask: Google_Protobuf_FieldMask) {
    let sorted = mask.paths.filter(FieldMaskPath.isWellFormed).sorted(by: FieldMaskPath.precedes)
    // The paths that a path covers come directly after it.
    paths = sorted.reduce(into: []) { paths, path in
      if let last = paths.last, FieldMaskPath.covers(last, path) { return }
      paths.append(path)
    }
  }

  var isEmpty: Bool { paths.isEmpty }

  /// The paths that either of the two covers.
  func union(_ other: FieldMaskPaths) -> FieldMaskPaths {
    FieldMaskPaths(Google_Protobuf_FieldMask(protoPaths: paths + other.paths))
  }

  /// The paths that both cover.
  func intersection(_ other: FieldMaskPaths) -> FieldMaskPaths {
    var both: [String] = []
    var (left, right) = (paths[...], other.paths[...])
    while let ours = left.first, let theirs = right.first {
      if FieldMaskPath.covers(ours, theirs) {
        both.append(theirs)
        right.removeFirst()
      } else if FieldMaskPath.covers(theirs, ours) {
        both.append(ours)
        left.removeFirst()
      } else if FieldMaskPath.precedes(ours, theirs) {
        left.removeFirst()
      } else {
        right.removeFirst()
      }
    }
    return FieldMaskPaths(canonical: both)
  }

  /// The paths that `other` does not fully cover.
  func subtracting(_ other: FieldMaskPaths) -> FieldMaskPaths {
    var rest: [String] = []
    var (left, right) = (paths[...], other.paths[...])
    while let ours = left.first {
      guard let theirs = right.first else {
        rest += left
        break
      }
      if FieldMaskPath.covers(theirs, ours) {
        left.removeFirst()
      } else if FieldMaskPath.precedes(theirs, ours) {
        right.removeFirst()
      } else {
        rest.append(ours)
        left.removeFirst()
      }
    }
    return FieldMaskPaths(canonical: rest)
  }

  /// The paths as a tree that is expanded one level at a time.
  var tree: FieldMaskTree { FieldMaskTree(paths.map { $0.utf8[...] }[...]) }
}

/// The paths of a mask that share a prefix, without that prefix. A leaf covers everything in its field.
struct FieldMaskTree {
  private let rests: ArraySlice<Substring.UTF8View>

  fileprivate init(_ rests: ArraySlice<Substring.UTF8View>) { self.rests = rests }

  /// Whether a path ends here.
  var isLeaf: Bool { rests.isEmpty }

  /// The names of the next fields in the paths, each with the rest of its paths.
  var children: [(name: String, tree: FieldMaskTree)] {
    var children: [(name: String, tree: FieldMaskTree)] = []
    var tails: [Substring.UTF8View] = []
    var name: Substring.UTF8View?
    func finish() {
      guard let name else { return }
      children.append((String(Substring(name)), FieldMaskTree(tails[...])))
    }
    for rest in rests {
      let end = rest.firstIndex(of: FieldMaskPath.point) ?? rest.endIndex
      let first = rest[..<end]
      if name?.elementsEqual(first) != true {
        finish()
        (name, tails) = (first, [])
      }
      if end < rest.endIndex { tails.append(rest[end...].dropFirst()) }
    }
    finish()
    return children
  }
}

extension FieldMaskPath {
  static let point = UInt8(ascii: ".")

  /// Whether a path has at least one part and no empty ones.
  static func isWellFormed(_ path: String) -> Bool {
    var isBehindPoint = true
    for byte in path.utf8 {
      let isPoint = byte == point
      if isPoint, isBehindPoint { return false }
      isBehindPoint = isPoint
    }
    return !isBehindPoint
  }

  /// Whether `path` is `cover`, or a path to something in the field that `cover` names.
  static func covers(_ cover: String, _ path: String) -> Bool {
    var rest = path.utf8[...]
    for byte in cover.utf8 where rest.popFirst() != byte { return false }
    return rest.first ?? point == point
  }

  /// Sorts by parts, and parts by their bytes.
  static func precedes(_ left: String, _ right: String) -> Bool {
    // A dot ends a part, so it sorts before any byte that continues the part.
    left.utf8.lexicographicallyPrecedes(right.utf8) { left, right in
      left == point ? right != point : right != point && left < right
    }
  }
}

/// The paths of a field mask in canonical form: in the order of their parts, and none that another covers.
///
/// A list and not a tree, since whoever made the mask decides how many parts a path has: nothing here goes as deep as they
/// are many, and each operation looks at each byte a few times at most, once the paths are sorted.
struct FieldMaskPaths {
  private(set) var paths: [String]

  private init(canonical paths: [String]) { self.paths = paths }

  /// The paths of a mask, but for those that can name no field: the empty one, and such as have an empty part.
  init(_ mask: Google_Protobuf_FieldMask) {
    let sorted = mask.paths.filter(FieldMaskPath.isWellFormed).sorted(by: FieldMaskPath.precedes)
    // What a path covers comes right behind it.
    paths = sorted.reduce(into: []) { paths, path in
      if let last = paths.last, FieldMaskPath.covers(last, path) { return }
      paths.append(path)
    }
  }

  var isEmpty: Bool { paths.isEmpty }

  /// The paths that either covers.
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

  /// The paths that `other` does not cover as a whole.
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

  /// The paths as a tree whose branches are taken one level at a time.
  var tree: FieldMaskTree { FieldMaskTree(paths.map { $0.utf8[...] }[...]) }
}

/// What begins alike among the paths of a mask, without what it begins with. A branch that is a leaf covers all that is within its
/// field.
struct FieldMaskTree {
  private let rests: ArraySlice<Substring.UTF8View>

  fileprivate init(_ rests: ArraySlice<Substring.UTF8View>) { self.rests = rests }

  /// Whether a path ends here.
  var isLeaf: Bool { rests.isEmpty }

  /// The names of the fields that the paths go on with, each with what goes on behind it.
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

  /// Whether a path has parts, none of them empty.
  static func isWellFormed(_ path: String) -> Bool {
    var isBehindPoint = true
    for byte in path.utf8 {
      let isPoint = byte == point
      if isPoint, isBehindPoint { return false }
      isBehindPoint = isPoint
    }
    return !isBehindPoint
  }

  /// Whether `path` is `cover`, or leads to something within what that names.
  static func covers(_ cover: String, _ path: String) -> Bool {
    var rest = path.utf8[...]
    for byte in cover.utf8 where rest.popFirst() != byte { return false }
    return rest.first ?? point == point
  }

  /// The order by parts, and of these by their bytes.
  static func precedes(_ left: String, _ right: String) -> Bool {
    // A point ends a part, and so comes before all that would go on with it.
    left.utf8.lexicographicallyPrecedes(right.utf8) { left, right in
      left == point ? right != point : right != point && left < right
    }
  }
}

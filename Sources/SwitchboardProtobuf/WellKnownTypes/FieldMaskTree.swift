/// The paths of a field mask by their parts. A node without children covers all that is within its field.
struct FieldMaskTree {
  private(set) var children: [String: FieldMaskTree] = [:]

  init() {}

  init(_ mask: Google_Protobuf_FieldMask) {
    for path in mask.paths where !path.isEmpty { insert(path.split(separator: ".").map(String.init)[...]) }
  }

  /// Whether this is the end of a path, or the root of a tree without paths.
  var isLeaf: Bool { children.isEmpty }

  private mutating func insert(_ parts: ArraySlice<String>) {
    guard let first = parts.first else {
      children = [:]  // all that is within is covered
      return
    }
    if let child = children[first] {
      guard !child.isLeaf else { return }
    }
    children[first, default: FieldMaskTree()].insert(parts.dropFirst())
  }

  func contains(_ path: String) -> Bool {
    var node = self
    for part in path.split(separator: ".") {
      guard let child = node.children[String(part)] else { return false }
      if child.isLeaf { return true }
      node = child
    }
    return false
  }

  mutating func formUnion(_ other: FieldMaskTree) {
    for (name, theirs) in other.children {
      guard let ours = children[name] else {
        children[name] = theirs
        continue
      }
      if ours.isLeaf { continue }
      if theirs.isLeaf { children[name] = theirs } else { children[name]?.formUnion(theirs) }
    }
  }

  func intersection(_ other: FieldMaskTree) -> FieldMaskTree {
    var result = FieldMaskTree()
    for (name, ours) in children {
      guard let theirs = other.children[name] else { continue }
      if theirs.isLeaf {
        result.children[name] = ours
      } else if ours.isLeaf {
        result.children[name] = theirs
      } else {
        let both = ours.intersection(theirs)
        if !both.isLeaf { result.children[name] = both }
      }
    }
    return result
  }

  func subtracting(_ other: FieldMaskTree) -> FieldMaskTree {
    var result = FieldMaskTree()
    for (name, ours) in children {
      guard let theirs = other.children[name] else {
        result.children[name] = ours
        continue
      }
      if theirs.isLeaf { continue }
      let rest = ours.isLeaf ? ours : ours.subtracting(theirs)
      if ours.isLeaf || !rest.isLeaf { result.children[name] = rest }
    }
    return result
  }

  /// The paths to the leaves, in alphabetical order.
  var mask: Google_Protobuf_FieldMask { Google_Protobuf_FieldMask(protoPaths: paths) }

  private var paths: [String] {
    children.sorted { $0.key < $1.key }.flatMap { name, child in
      child.isLeaf ? [name] : child.paths.map { "\(name).\($0)" }
    }
  }
}

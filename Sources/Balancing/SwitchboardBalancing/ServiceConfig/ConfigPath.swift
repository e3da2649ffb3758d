import SwitchboardText

/// Where a member of a service config is, such as `methodConfig[0].retryPolicy`.
enum ConfigPath {
  static func member(_ name: String, of location: String) -> String {
    location.isEmpty ? name.excerpt : "\(location).\(name.excerpt)"
  }

  /// Whether what is at the inner path is the same as what is at a path, or a part of it.
  static func contains(_ path: String, _ inner: String) -> Bool {
    inner == path || inner.begins(with: path + ".") || inner.begins(with: path + "[")
  }

  /// The object or the array that has what is at a path; `nil` for the whole config.
  static func parent(of path: String) -> String? {
    guard let end = path.utf8.lastIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }) else {
      return nil
    }
    return String(path[..<end])
  }
}

/// The paths of some things in a service config, each with the paths of what it is in, so that asking for one costs the same
/// however many there are.
struct ConfigPaths: Sendable {
  private var paths: Set<String> = []
  private var enclosing: Set<String> = []

  init(_ paths: some Sequence<String> = []) { for path in paths { insert(path) } }

  mutating func insert(_ path: String) {
    guard paths.insert(path).inserted else { return }
    var outer = Optional(path)
    while let known = outer, enclosing.insert(known).inserted { outer = ConfigPath.parent(of: known) }
  }

  /// Whether this is one of the paths.
  func contains(_ path: String) -> Bool { paths.contains(path) }

  /// Whether one of the paths is this one, or that of a part of what is there.
  func hasAny(in path: String) -> Bool { enclosing.contains(path) }

  /// Whether what is at a path is, or is in, what is at one of the paths.
  func encloses(_ path: String) -> Bool {
    guard !paths.isEmpty else { return false }
    var outer = Optional(path)
    while let known = outer {
      if paths.contains(known) { return true }
      outer = ConfigPath.parent(of: known)
    }
    return false
  }
}

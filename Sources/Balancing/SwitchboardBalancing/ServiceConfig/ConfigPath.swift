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

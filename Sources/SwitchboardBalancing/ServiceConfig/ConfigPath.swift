/// Where a member of a service config is, such as `methodConfig[0].retryPolicy`.
enum ConfigPath {
  private static let longestName = 100

  /// A name from a config, as far as messages show it.
  static func shown(_ name: String) -> String {
    guard name.utf8.count > longestName else { return name }
    return String(decoding: name.utf8.prefix(longestName), as: UTF8.self) + "…"
  }

  static func member(_ name: String, of location: String) -> String {
    location.isEmpty ? shown(name) : "\(location).\(shown(name))"
  }

  /// The object or the array that has what is at a path; `nil` for the whole config.
  static func parent(of path: String) -> String? {
    guard let end = path.utf8.lastIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "[") }) else {
      return nil
    }
    return String(path[..<end])
  }
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The path of a checkout, as the manifest of a package names it: relative if the user gave a relative one, so that both can
/// be moved together.
struct PackagePath {
  let text: String

  /// `origin` and `folder`, in which the package will be, are relative to the current directory, or absolute.
  init(of origin: String, from folder: String) throws(Failure) {
    guard let current = Self.real("."), let real = Self.real(origin) else {
      throw Failure("\(origin) cannot be read", code: .noInput)
    }
    guard !origin.hasPrefix("/") else {
      text = origin
      return
    }
    // As the user wrote it; where a link leads to is its own affair, unless it makes the path another.
    let written = Self.joined(current, origin)
    let target = Self.real(Self.text(written)) == real ? written : Self.parts(real)
    let start = Self.existing(Self.joined(current, folder))
    let common = zip(start, target).prefix { $0.utf8.elementsEqual($1.utf8) }.count
    let up = [String](repeating: "..", count: start.count - common)
    let path = (up + target.dropFirst(common)).joined(separator: "/")
    text = path.isEmpty ? "." : path
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func parts(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

  private static func text(_ parts: [String]) -> String { "/" + parts.joined(separator: "/") }

  /// The parts of a path from a directory, without `.` and `..`.
  private static func joined(_ directory: String, _ path: String) -> [String] {
    var joined = path.hasPrefix("/") ? [] : parts(directory)
    for part in parts(path) {
      switch part {
      case ".": break
      case "..": _ = joined.popLast()
      default: joined.append(part)
      }
    }
    return joined
  }

  /// The same path without links, as far as it exists: from a link, `..` would lead elsewhere.
  private static func existing(_ path: [String]) -> [String] {
    for count in stride(from: path.count, through: 1, by: -1) {
      if let known = real(text(Array(path.prefix(count)))) { return parts(known) + path.dropFirst(count) }
    }
    return path
  }
}

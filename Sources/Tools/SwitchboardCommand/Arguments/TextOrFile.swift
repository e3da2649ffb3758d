import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The value of a flag that takes a text, or where to read it: `@FILE`, or `@-` for standard input.
enum TextOrFile: Hashable, Sendable {
  case text(String)
  case file(String)
  case input

  init(_ value: String, of flag: Flag) throws(Failure) {
    guard value.hasPrefix("@") else {
      self = .text(value)
      return
    }
    let path = String(value.dropFirst())
    guard !path.isEmpty else { throw .usage("\(flag.shortName) @FILE needs the name of a file") }
    self = path == "-" ? .input : .file(path)
  }

  /// The operand of a verb that reads a file; `-` is standard input.
  init(path: String) { self = path == "-" ? .input : .file(path) }

  /// What it says. A file's byte order mark, which editors on Windows write, is no part of that.
  func bytes() throws(Failure) -> [UInt8] {
    do {
      switch self {
      case .text(let text): return Array(text.utf8)
      case .file(let path): return Self.withoutMark(try readFile(path))
      case .input: return Self.withoutMark(try Descriptor.standardInput.readAll())
      }
    } catch {
      throw .unreadable(error)
    }
  }

  static func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
    bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
  }

  /// The file, as messages name it; nil for a text.
  var fileName: String? {
    switch self {
    case .text: nil
    case .file(let path): path
    case .input: "standard input"
    }
  }

  /// Where a mistake in it is, for messages.
  func place(_ flag: Flag) -> String { fileName ?? flag.shortName }

  /// What the user may have meant, if the text is not what the flag takes: a file, without its `@`.
  func hints(for flag: Flag) -> [ShownText] {
    guard case .text(let text) = self, Self.isFile(text) || Self.looksLikeFile(text) else { return [] }
    return ["To read it from the file '\(text)', write \(flag.shortName) @\(text)"]
  }

  /// The same for a text that may be a secret, which is shown only if it is certainly a file's name.
  func hints(forSecret flag: Flag) -> [ShownText] {
    guard case .text(let text) = self, Self.isFile(text) else { return [] }
    return hints(for: flag)
  }

  /// Whether there is something with this name.
  static func isFile(_ text: String) -> Bool { !text.isEmpty && access(text, F_OK) == 0 }

  /// Whether it ends as names of files do.
  private static func looksLikeFile(_ text: String) -> Bool {
    guard !text.unicodeScalars.contains(where: { "{}[]\"\n".unicodeScalars.contains($0) }) else {
      return false
    }
    guard let dot = text.lastIndex(of: "."), dot != text.startIndex else { return text.contains("/") }
    let ending = text[text.index(after: dot)...]
    return !ending.isEmpty && ending.allSatisfy { $0.isASCII && $0.isLetter }
  }
}

extension Arguments {
  /// The value of a flag that takes a text or `@FILE`; nil if it is not given.
  func textOrFile(_ flag: Flag) throws(Failure) -> TextOrFile? {
    guard let text = self[flag] else { return nil }
    return try TextOrFile(text, of: flag)
  }
}

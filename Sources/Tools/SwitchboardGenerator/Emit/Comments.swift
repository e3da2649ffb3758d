/// The comments of a file, by the path of the declaration.
struct Comments {
  private var byPath: [[Int32]: Int] = [:]
  private let locations: [SourceComments.Location]

  /// The comments in a file's source information.
  init(of file: FileDescriptor) {
    locations = file.comments.locations
    for (index, location) in locations.enumerated() { byPath[location.path] = index }
  }

  /// Writes the comment on the declaration at `path`: the leading one or, if there is none, the trailing one.
  func emit(for path: [Int32], isDeprecated: Bool = false, to printer: inout Printer) {
    let lines = byPath[path].map { Comments.lines(of: locations[$0]) } ?? []
    for line in lines { printer.line(line) }
    guard isDeprecated else { return }
    if !lines.isEmpty { printer.line("///") }
    printer.line("/// - Note: deprecated in the `.proto` file.")
  }

  private static func lines(of location: SourceComments.Location) -> [String] {
    let leading = location.leadingComments ?? ""
    let text = leading.isEmpty ? location.trailingComments ?? "" : leading
    // By bytes, because most of the text of a large schema is comments.
    var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(line)
    while lines.last == "///" { lines.removeLast() }
    return lines
  }

  /// A line of a comment in Swift, without control characters and trailing spaces.
  private static func line(_ content: Substring.UTF8View) -> String {
    guard content.allSatisfy({ $0 == UInt8(ascii: "\t") || $0 >= 0x20 && $0 < 0x7F }) else {
      return unusualLine(Substring(content))
    }
    var kept = content
    while let last = kept.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") { kept.removeLast() }
    guard let first = kept.first else { return "///" }
    return (first == UInt8(ascii: " ") ? "///" : "/// ") + Substring(kept)
  }

  private static func unusualLine(_ content: Substring) -> String {
    var kept = content.unicodeScalars.filter { $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7F }
    while let last = kept.last, last.properties.isWhitespace { kept.removeLast() }
    if kept.isEmpty { return "///" }
    return (kept.first == " " ? "///" : "/// ") + String(kept)
  }
}

import SwitchboardDescriptors

/// The comments of a file, by the path of the declaration.
struct Comments {
  private var byPath: [[Int32]: Int] = [:]
  private let locations: [Google_Protobuf_SourceCodeInfo.Location]

  /// The comments in a file's source information.
  init(of file: Google_Protobuf_FileDescriptorProto) {
    locations = file.hasSourceCodeInfo ? file.sourceCodeInfo.location : []
    for (index, location) in locations.enumerated() {
      guard location.hasLeadingComments || location.hasTrailingComments else { continue }
      byPath[location.path] = index
    }
  }

  /// Writes the comment on the declaration at `path`: the leading one or, if there is none, the trailing one.
  func emit(for path: [Int32], isDeprecated: Bool = false, to printer: inout Printer) {
    let lines = byPath[path].map { Comments.lines(of: locations[$0]) } ?? []
    for line in lines { printer.line(line) }
    guard isDeprecated else { return }
    if !lines.isEmpty { printer.line("///") }
    printer.line("/// - Note: deprecated in the `.proto` file.")
  }

  private static func lines(of location: Google_Protobuf_SourceCodeInfo.Location) -> [String] {
    let text = location.leadingComments.isEmpty ? location.trailingComments : location.leadingComments
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      var kept = Substring(line).unicodeScalars.filter { $0 == "\t" || $0.value >= 0x20 && $0.value != 0x7F }
      while let last = kept.last, last.properties.isWhitespace { kept.removeLast() }
      if kept.isEmpty { return "///" }
      return (kept.first == " " ? "///" : "/// ") + String(kept)
    }
    while lines.last == "///" { lines.removeLast() }
    return lines
  }
}

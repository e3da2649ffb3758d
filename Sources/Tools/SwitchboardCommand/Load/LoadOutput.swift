import LoadMessages
import SwitchboardLoad
import SwitchboardProtobuf
import SwitchboardToolSupport

/// The destinations and formats of reports.
struct LoadOutput {
  private let format: LoadFormat
  private let files: [(path: String, format: LoadFormat)]
  /// The report to compare with.
  private let old: (path: String, method: String, tally: LoadTally)?

  /// Reads the report to compare with before the run, so that an invalid one is reported at once.
  init(_ arguments: Arguments) throws {
    format = try Self.format(arguments)
    let paths = arguments.all(LoadFlags.save)
    if let twice = paths.indices.first(where: { paths[..<$0].contains(paths[$0]) }) {
      throw Failure.usage("\(LoadFlags.save.name) \(paths[twice]) is given twice")
    }
    files = try paths.map { path in
      let ending = path.split(separator: ".").last.map { $0 == "txt" ? "text" : String($0) } ?? ""
      guard let format = LoadFormat(rawValue: ending) else {
        throw Failure.usage("--save takes a name that ends in .json, .csv, .html or .txt, not '\(path)'")
      }
      // Checked before the run, which may be long.
      _ = try OutputPath(path)
      return (path, format)
    }
    guard let path = arguments[LoadFlags.compare] else {
      old = nil
      return
    }
    let bytes: [UInt8]
    do { bytes = try readFile(path) } catch { throw Failure.unreadable(error) }
    do {
      let (report, tally) = try LoadTestReport.read(String(decoding: bytes, as: UTF8.self))
      try report.checkComparable()
      old = (path, report.method, tally)
    } catch {
      throw Failure("\(path): \(error)", code: .data)
    }
  }

  private static func format(_ arguments: Arguments) throws(Failure) -> LoadFormat {
    do throws(Failure) {
      return try arguments.choice(LoadFlags.output) ?? .text
    } catch {
      var failure = error
      if let file = arguments[LoadFlags.output], file.contains(".") || file.contains("/") {
        failure.hints.append("'\(LoadFlags.save.name) \(file)' writes the report to a file.")
      }
      throw failure
    }
  }

  /// Refuses to compare a run at a rate with one without. Their latencies count from different moments, and one has its
  /// rate from the user, the other from the server.
  func check(isOpenLoop: Bool) throws(Failure) {
    guard let old, old.tally.calls > 0, old.tally.isOpenLoop != isOpenLoop else { return }
    let (other, own) = isOpenLoop ? ("without", "with") : ("with", "without")
    throw .usage(
      "--compare: the run of \(old.path) was \(other) --rate, and this one is \(own): their latencies count from "
        + "different moments and cannot be compared"
    )
  }

  /// Says if the report to compare with is about another method. That may be meant.
  func warn(ifNotOf method: String) {
    guard let old, old.method != method else { return }
    Output.warn("--compare: the run of \(old.path) was of \(old.method), and this one is of \(method)")
  }

  func write(_ report: LoadTestReport, _ tally: LoadTally) throws {
    // First where it is seen, because a file may be a pipe that somebody has to read. What cannot be written must not
    // prevent the rest.
    let shown = Result { try show(report, tally) }
    try save(report, tally)
    try shown.get()
  }

  private func save(_ report: LoadTestReport, _ tally: LoadTally) throws {
    let results = files.map { file in
      Result {
        let text = try Self.text(report, tally, as: file.format, Ink(isColored: false))
        try OutputPath(file.path).write(Array(text.utf8))
      }
    }
    for result in results { try result.get() }
  }

  private func show(_ report: LoadTestReport, _ tally: LoadTally) throws {
    let ink = Ink(isColored: Terminal.current().hasColor)
    let text = try Self.text(report, tally, as: format, ink)
    try Output.write(ShownText(coloredLines: text, as: format == .json ? .json : .plain), end: "")
    guard let old else { return }
    let comparison = LoadComparison(old: old.tally, new: tally)
    if format == .text {
      try Output.write("\n\(ShownText(coloredLines: comparison.text(ink: ink)))", end: "")
    } else {
      let ink = Ink(isColored: Terminal.current(.errors).hasColor)
      Output.note(ShownText(coloredLines: comparison.text(ink: ink)))
    }
  }

  private static func text(
    _ report: LoadTestReport,
    _ tally: LoadTally,
    as format: LoadFormat,
    _ ink: Ink
  ) throws -> String {
    switch format {
    case .text: TextReport(report, tally, ink: ink).text
    case .json: try report.jsonString() + "\n"
    case .csv: CSVReport.text(report, tally)
    case .html: HTMLReport(report, tally).text
    }
  }

  /// The current date and time, to the second.
  static var timestamp: String {
    var now = Google_Protobuf_Timestamp.now()
    now.nanos = 0
    let json = (try? now.jsonString()) ?? ""
    return String(json.dropFirst().dropLast())
  }
}

import LoadMessages
import SwitchboardLoad
import SwitchboardProtobuf
import SwitchboardToolSupport

/// Where reports go, and as what.
struct LoadOutput {
  private let format: LoadFormat
  private let files: [(folder: OutputDirectory, name: String, format: LoadFormat)]
  private let old: LoadTally?

  /// Reads the report to compare with and looks for the folders to write to, so that what is wrong is told before the run.
  init(_ arguments: Arguments) throws {
    format = try arguments.choice(LoadFlags.output) ?? .text
    files = try arguments.all(LoadFlags.save).map { path in
      let ending = path.split(separator: ".").last.map { $0 == "txt" ? "text" : String($0) } ?? ""
      guard let format = LoadFormat(rawValue: ending) else {
        throw Failure.usage("--save takes a name that ends in .json, .csv, .html or .txt, not '\(path)'")
      }
      let name = path.split(separator: "/").last.map(String.init) ?? path
      let folder = String(path.dropLast(name.count))
      return (try OutputDirectory(folder.isEmpty ? "." : folder), name, format)
    }
    guard let path = arguments[LoadFlags.compare] else {
      old = nil
      return
    }
    let bytes: [UInt8]
    do { bytes = try readFile(path) } catch { throw Failure.unreadable(error) }
    do {
      old = try LoadTestReport.read(String(decoding: bytes, as: UTF8.self)).tally
    } catch {
      throw Failure("\(path): \(error)", code: .data)
    }
  }

  /// What is shown comes first: a file that cannot be written does not take it away.
  func write(_ report: LoadTestReport, _ tally: LoadTally) throws {
    let ink = Ink(isColoured: Terminal.current().hasColor)
    try Output.write(bytes: Array(try Self.text(report, tally, as: format, ink).utf8))
    if let old { try write(LoadComparison(old: old, new: tally)) }
    for file in files {
      let text = try Self.text(report, tally, as: file.format, Ink(isColoured: false))
      try file.folder.write(Array(text.utf8), to: file.name)
    }
  }

  private func write(_ comparison: LoadComparison) throws {
    if format == .text {
      let ink = Ink(isColoured: Terminal.current().hasColor)
      try Output.write(bytes: Array("\n\(comparison.text(ink: ink))".utf8))
    } else {
      Output.note(comparison.text(ink: Ink(isColoured: Terminal.current(.errors).hasColor)))
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

  /// The time of the calendar, to the second.
  static var timestamp: String {
    var now = Google_Protobuf_Timestamp.now()
    now.nanos = 0
    let json = (try? now.jsonString()) ?? ""
    return String(json.dropFirst().dropLast())
  }
}

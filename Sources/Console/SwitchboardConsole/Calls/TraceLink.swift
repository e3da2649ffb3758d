import SwitchboardCall
import SwitchboardText

/// The address of a trace in the system that keeps traces: a template with `{trace}`, and with `{span}` if it has one.
struct TraceLink: Sendable {
  /// The parts of the template, and whether the span follows each of them, or the trace.
  private let pieces: [Piece]

  private enum Piece: Sendable {
    case text(String)
    case trace, span
  }

  /// Throws if the template is no address of the web, or lacks `{trace}`.
  init(_ template: String) throws(GRPCStatus) {
    let bytes = Array(template.utf8)
    let braces = "has no other braces than those of {trace} and {span}"
    guard let authority = Self.authority(bytes) else {
      throw Self.mistake("begins with https:// or http:// and the name of a host", template)
    }
    guard bytes.count(where: { $0 == UInt8(ascii: "{") }) == bytes.count(where: { $0 == UInt8(ascii: "}") })
    else {
      throw Self.mistake(braces, template)
    }
    guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f && !"\"'<>`\\".utf8.contains($0) }) else {
      throw Self.mistake("has the characters of an address only", template)
    }
    guard !authority.contains(where: { "{}@".utf8.contains($0) }) else {
      throw Self.mistake("has {trace} and {span} behind the host, and names no user", template)
    }
    var pieces: [Piece] = []
    for part in bytes.split(separator: UInt8(ascii: "{"), omittingEmptySubsequences: false) {
      guard !pieces.isEmpty else {
        pieces.append(.text(String(decoding: part, as: UTF8.self)))
        continue
      }
      let halves = part.split(separator: UInt8(ascii: "}"), maxSplits: 1, omittingEmptySubsequences: false)
      guard halves.count == 2, let piece = Self.placeholder(halves[0]) else {
        throw Self.mistake(braces, template)
      }
      pieces += [piece, .text(String(decoding: halves[1], as: UTF8.self))]
    }
    let traces = pieces.filter { if case .trace = $0 { true } else { false } }
    guard traces.count == 1 else { throw Self.mistake("has {trace} once", template) }
    self.pieces = pieces
  }

  private static func mistake(_ text: String, _ template: String) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "ConsoleOptions.traceLink \(text): \(template.excerpt.debugDescription)"
    )
  }

  /// The host, with a port; `nil` unless this is an address of the web.
  private static func authority(_ bytes: [UInt8]) -> ArraySlice<UInt8>? {
    guard let scheme = ["https://", "http://"].first(where: { bytes.starts(with: $0.utf8) }) else {
      return nil
    }
    let authority = bytes.dropFirst(scheme.utf8.count).prefix { !"/?#".utf8.contains($0) }
    return authority.isEmpty ? nil : authority
  }

  private static func placeholder(_ name: some Collection<UInt8>) -> Piece? {
    if name.elementsEqual("trace".utf8) { return .trace }
    return name.elementsEqual("span".utf8) ? .span : nil
  }

  /// The address of a trace, and of a span in it.
  func address(trace: String, span: String) -> String {
    pieces.map { piece in
      switch piece {
      case .text(let text): text
      case .trace: trace
      case .span: span
      }
    }.joined()
  }
}

import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

@testable import SwitchboardTelemetry

/// What telemetry reads from outside: headers of traces, and the answers of collectors.
enum TelemetryTargets {
  /// Lines of `name: value`, as the metadata of a call. What is read is written, and read again as the same.
  static func trace(_ input: [UInt8]) throws {
    var headers = HPACKHeaders()
    for line in input.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: ":"), maxSplits: 1)
      guard parts.count == 2 else { continue }
      headers.append(name: parts[0], value: parts[1].drop { $0 == UInt8(ascii: " ") })
    }
    let read = TraceHeaders(headers)
    try BrokenPromise.unless(read.baggage.names.count <= Baggage.mostMembers, "\(read.baggage) is too large")
    if read.baggage.header.utf8.count <= Baggage.limit {
      let again = Baggage(fields: [read.baggage.header])
      try BrokenPromise.unless(again == read.baggage, "\(read.baggage) becomes \(again)")
    }
    guard let context = read.context else { return }
    try BrokenPromise.unless(context.traceID.isValid && context.spanID.isValid, "\(context) is no span")
    try BrokenPromise.unless(context.traceState.utf8.count <= TraceState.limit, "\(context) is too large")
    let text = SpanContext(traceParent: context.traceParent, traceState: context.traceState)
    try BrokenPromise.unless(text == context, "\(context) becomes \(String(describing: text))")
    let binary = TraceBin.read(TraceBin.bytes(context))
    try BrokenPromise.unless(
      binary.map { $0.0 == context.traceID && $0.1 == context.spanID && $0.isSampled == context.isSampled }
        == true,
      "\(context) becomes \(String(describing: binary))"
    )
  }

  /// The first byte is the size of the pieces in which the rest arrives, as an answer over HTTP. The result must be that for
  /// the whole.
  static func collector(_ input: [UInt8]) throws {
    guard let size = input.first else { return }
    let bytes = Array(input.dropFirst())
    let whole = answer(bytes, pieces: max(1, bytes.count))
    let pieces = answer(bytes, pieces: max(1, Int(size)))
    try BrokenPromise.unless(whole == pieces, "pieces of \(size) give \(pieces) and not \(whole)")
    if let delay = RetryAfter.delay(String(decoding: bytes, as: UTF8.self), now: 784_111_777) {
      try BrokenPromise.unless((.zero ... .seconds(300)).contains(delay), "a date makes us wait for \(delay)")
    }
    var status = GRPCStatus(code: .resourceExhausted)
    status.packedDetails = bytes
    if case .retry(let delay?, _) = ExportResult(status) {
      try BrokenPromise.unless(
        (.zero ... .seconds(302)).contains(delay),
        "a collector makes us wait for \(delay)"
      )
    }
  }

  private static func answer(_ bytes: [UInt8], pieces size: Int) -> String {
    var parser = HTTPAnswerParser()
    var rest = bytes[...]
    while !rest.isEmpty {
      switch parser.take(rest.prefix(size)) {
      case .more: rest = rest.dropFirst(size)
      case .invalid: return "invalid"
      case .whole(let answer): return shown(answer)
      }
    }
    if case .whole(let answer) = parser.end() { return shown(answer) }
    return "invalid"
  }

  private static func shown(_ answer: HTTPAnswer) -> String {
    "\(answer.status) \(answer.headers) \(answer.body)"
  }
}

/// Attacks over HTTP/1.1, on a server that allows it.
extension Attack {
  /// What the names of these begin with.
  static let plainPrefix = "http1-"

  static let plainHTTP = [
    // The baseline for these.
    requests("calls", perPiece: 10, each: request()),
    requests("pipeline", perPiece: 1000, each: request()),
    requests("many-fields", perPiece: 10, each: request((0..<120).map { "x-\($0): \($0)" })),
    requests("too-many-fields", perPiece: 1, each: request((0..<1000).map { "x-\($0): \($0)" })),
    requests("long-line", perPiece: 1, each: request(["x: " + String(repeating: "x", count: 100_000)])),
    requests("unknown-length", perPiece: 1, each: chunked(count: 100_000, "1\r\nx\r\n")),
    requests(
      "chunk-extensions",
      perPiece: 1,
      each: chunked(count: 10_000, "1;" + String(repeating: "e", count: 200) + "\r\nx\r\n")
    ),
    requests("json-depth", perPiece: 1, each: json(#"{"text":"# + String(repeating: "[", count: 1_000_000))),
    requests(
      "json-members",
      perPiece: 1,
      each: json("{" + String(repeating: #""text":"","#, count: 100_000))
    ),
    // Normalization sorts these marks, which come in the wrong order.
    requests(
      "marks",
      perPiece: 1,
      each: json(#"{"a"# + String(repeating: "\u{301}\u{316}", count: 250_000) + #"":0}"#)
    ),
    Attack(
      name: "http1-slow-head",
      width: 1000,
      steps: request(["x: " + String(repeating: "x", count: 1500)]).prefix(1500).map { .send([$0]) }
    ),
    Attack(
      name: "http1-slow-body",
      width: 1000,
      steps: chunked(count: 1000, "1\r\nx\r\n").prefix(1500).map { .send([$0]) }
    ),
  ]

  /// Sends requests, some at a time, and reads the responses.
  private static func requests(_ name: String, perPiece: Int, each request: [UInt8]) -> Attack {
    let piece = (0..<perPiece).flatMap { _ in request }
    return Attack(
      name: plainPrefix + name,
      steps: (0..<10).flatMap { _ in [.send(piece), .answers(perPiece)] }
    )
  }

  private static func head(_ lines: [String]) -> [UInt8] {
    let first = ["POST /bench.Bench/Unary HTTP/1.1", "host: bench"]
    return Array((first + lines + ["", ""]).joined(separator: "\r\n").utf8)
  }

  /// A complete call in Connect.
  private static func request(_ lines: [String] = []) -> [UInt8] {
    let message = AttackFrame.greetingMessage
    return head(lines + ["content-type: application/proto", "content-length: \(message.count)"]) + message
  }

  private static func json(_ text: String) -> [UInt8] {
    head(["content-type: application/json", "content-length: \(text.utf8.count)"]) + text.utf8
  }

  private static func chunked(count: Int, _ chunk: String) -> [UInt8] {
    head(["content-type: application/proto", "transfer-encoding: chunked"])
      + String(repeating: chunk, count: count).utf8 + "0\r\n\r\n".utf8
  }
}

/// Parses HTTP/1.1 requests incrementally. It is strict: a request that two parsers could interpret differently is
/// rejected.
struct HTTP1Parser {
  /// ```
  ///   requestLine ──> fields ──┬──no body──> requestLine
  ///                            └──> body ────────^
  /// ```
  private enum State {
    case requestLine, fields
    case body(HTTP1Body)
    case broken
  }

  enum Event {
    /// All bytes were read; more are necessary.
    case incomplete
    case head(HTTP1RequestHead)
    /// A piece of the body, in the caller's memory.
    case body(UnsafeRawBufferPointer)
    /// The end of a body. Not reported for requests without one.
    case end
    /// The request is invalid; nothing more can be read.
    case refused(HTTP1Refusal)
  }

  private var state = State.requestLine
  private var head = HTTP1RequestHead()
  /// The part of the current line that has arrived. Its room is that of the header section, or of the body's lines.
  private var line: HTTP1Line
  private var skippedEmptyLine = false
  private let headLimit: Int

  init(headLimit: Int) {
    self.headLimit = headLimit
    line = HTTP1Line(room: headLimit)
  }

  /// Whether a header section was started and is incomplete.
  var isInsideHead: Bool {
    switch state {
    case .requestLine: !line.isEmpty
    case .fields: true
    case .body, .broken: false
    }
  }

  /// Continues to parse, and removes the bytes that it read from `bytes`.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer) -> Event {
    while true {
      switch state {
      case .broken:
        return .refused(.malformed)
      case .body(var body):
        switch body.next(&bytes, &line) {
        case .incomplete:
          state = .body(body)
          return .incomplete
        case .piece(let piece):
          state = .body(body)
          return .body(piece)
        case .end:
          startAgain()
          return .end
        case .malformed:
          return refuse(.malformed)
        }
      case .requestLine, .fields:
        switch line.take(from: &bytes) {
        case .incomplete: return .incomplete
        case .tooLong: return refuse(.tooLarge)
        case .malformed: return refuse(.malformed)
        case .whole(let content): if let event = content.withBytes({ read($0) }) { return event }
        }
      }
    }
  }

  /// Returns `nil` if there is no event yet and more to read.
  private mutating func read(_ line: HTTP1Syntax.Bytes) -> Event? {
    guard case .fields = state else { return readRequestLine(line) }
    return line.isEmpty ? endHead() : head.readField(line).map { refuse($0) }
  }

  private mutating func readRequestLine(_ line: HTTP1Syntax.Bytes) -> Event? {
    // Some clients send an empty line after a body.
    if line.isEmpty, !skippedEmptyLine {
      skippedEmptyLine = true
      return nil
    }
    if let refusal = head.readRequestLine(line) { return refuse(refusal) }
    state = .fields
    return nil
  }

  private mutating func endHead() -> Event {
    if let refusal = head.refusal() { return refuse(refusal) }
    let whole = head
    startAgain()
    if whole.isChunked {
      state = .body(HTTP1Body(chunkedInto: &line, trailerLimit: headLimit))
    } else if whole.hasBody {
      state = .body(HTTP1Body(length: whole.bodyLength ?? 0))
    }
    return .head(whole)
  }

  private mutating func startAgain() {
    state = .requestLine
    head = HTTP1RequestHead()
    line.room = headLimit
    skippedEmptyLine = false
  }

  private mutating func refuse(_ refusal: HTTP1Refusal) -> Event {
    state = .broken
    line = HTTP1Line(room: 0)
    return .refused(refusal)
  }
}

// unsafe: request bytes that the socket lends for one read

/// Cuts a sequence of HTTP/1.1 messages into the lines of their header sections and the pieces of their bodies.
struct HTTP1Framing {
  /// ```
  ///   startLine ──> fields ──┬──no body──> startLine
  ///                          └──> body ────────^
  /// ```
  private enum State {
    case startLine, fields
    case body(HTTP1Body)
    case broken
  }

  enum Event {
    /// All bytes were read; more are necessary.
    case incomplete
    /// A line of the header section.
    case line(HTTP1Line.Content)
    /// A piece of the body, in the caller's memory.
    case body(UnsafeRawBufferPointer)
    /// The end of a body.
    case end
    /// The message is invalid; nothing more can be read.
    case refused(HTTP1Refusal)
  }

  private var state = State.startLine
  /// The part of the current line that has arrived. Its room is that of the header section, or of the body's lines.
  private var line: HTTP1Line
  private let headLimit: Int
  /// The number of the message.
  private var number = 1

  init(headLimit: Int) {
    self.headLimit = headLimit
    line = HTTP1Line(room: headLimit)
  }

  /// Whether the start line was read, and the next lines are fields.
  var isInFields: Bool { if case .fields = state { true } else { false } }

  /// The number of the header section that was started and is incomplete; zero if there is none.
  var incompleteHead: Int {
    switch state {
    case .startLine: line.isEmpty ? 0 : number
    case .fields: number
    case .body, .broken: 0
    }
  }

  /// Whether the body ends with the connection.
  var endsWithConnection: Bool { if case .body(let body) = state { body.endsWithConnection } else { false } }

  /// Continues to parse, and removes the bytes that it read from `bytes`.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer) -> Event {
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
        expectStartLine()
        return .end
      case .malformed:
        return refuse(.malformed)
      }
    case .startLine, .fields:
      switch line.take(from: &bytes) {
      case .incomplete: return .incomplete
      case .tooLong: return refuse(.tooLarge)
      case .malformed: return refuse(.malformed)
      case .whole(let content): return .line(content)
      }
    }
  }

  /// Expects the next message. The caller does so after a header section without a body.
  mutating func expectStartLine() {
    state = .startLine
    line.room = headLimit
    number &+= 1
  }

  /// Expects fields, after the start line.
  mutating func expectFields() { state = .fields }

  /// Expects a body of `length` bytes, after the fields.
  mutating func expectBody(length: Int) { state = .body(HTTP1Body(length: length)) }

  /// Expects a body in chunks, after the fields.
  mutating func expectChunks() {
    state = .body(HTTP1Body(chunkedInto: &line, trailerLimit: headLimit))
  }

  /// Expects a body that ends with the connection, after the fields.
  mutating func expectBodyUntilClose() { state = .body(.untilClose) }

  private mutating func refuse(_ refusal: HTTP1Refusal) -> Event {
    stop()
    return .refused(refusal)
  }

  /// Reads nothing more.
  mutating func stop() {
    state = .broken
    line = HTTP1Line(room: 0)
  }
}

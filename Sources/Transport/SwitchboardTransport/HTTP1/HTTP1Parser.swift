// unsafe: request bytes that the socket lends for one read

/// Parses HTTP/1.1 requests incrementally. It is strict: a request that two parsers could interpret differently is
/// rejected.
struct HTTP1Parser {
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

  private var framing: HTTP1Framing
  private var head = HTTP1RequestHead()
  private var skippedEmptyLine = false

  init(headLimit: Int) { framing = HTTP1Framing(headLimit: headLimit) }

  /// The number of the header section that was started and is incomplete; zero if there is none.
  var incompleteHead: Int { framing.incompleteHead }

  /// Continues to parse, and removes the bytes that it read from `bytes`.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer) -> Event {
    while true {
      switch framing.next(&bytes) {
      case .incomplete: return .incomplete
      case .body(let piece): return .body(piece)
      case .end: return .end
      case .refused(let refusal): return refuse(refusal)
      case .line(let content): if let event = content.withBytes({ read($0) }) { return event }
      }
    }
  }

  /// Returns `nil` if there is no event yet and more to read.
  private mutating func read(_ line: HTTP1Syntax.Bytes) -> Event? {
    guard framing.isInFields else { return readRequestLine(line) }
    return line.isEmpty ? endHead() : head.readField(line).map { refuse($0) }
  }

  private mutating func readRequestLine(_ line: HTTP1Syntax.Bytes) -> Event? {
    // Some clients send an empty line after a body.
    if line.isEmpty, !skippedEmptyLine {
      skippedEmptyLine = true
      return nil
    }
    if let refusal = head.readRequestLine(line) { return refuse(refusal) }
    framing.expectFields()
    return nil
  }

  private mutating func endHead() -> Event {
    if let refusal = head.refusal() { return refuse(refusal) }
    let whole = head
    head = HTTP1RequestHead()
    skippedEmptyLine = false
    if whole.isChunked {
      framing.expectChunks()
    } else if whole.hasBody {
      framing.expectBody(length: whole.bodyLength ?? 0)
    } else {
      framing.expectStartLine()
    }
    return .head(whole)
  }

  private mutating func refuse(_ refusal: HTTP1Refusal) -> Event {
    framing.stop()
    return .refused(refusal)
  }
}

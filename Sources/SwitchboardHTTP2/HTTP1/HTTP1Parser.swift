/// Parses HTTP/1.1 requests incrementally. It is strict: a request that two parsers could interpret differently is
/// rejected.
struct HTTP1Parser {
  /// ```
  ///   requestLine ──> fields ──┬──no body───────────────────────────────────> requestLine
  ///                            ├──length──> plain(n) ────────────────────────────^
  ///                            └──chunked─> chunkSize ──0──> trailers ───────────^
  ///                                         ^    └──n──> chunk(n) ──> chunkEnd─┐
  ///                                         └──────────────────────────────────┘
  /// ```
  private enum State {
    case requestLine, fields
    case plain(Int)
    case chunkSize, chunkEnd, trailers
    case chunk(Int)
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

  private enum Line {
    case incomplete, tooLong, malformed
    /// `line` is a whole line, with its end.
    case whole
  }

  private var state = State.requestLine
  private var head = HTTP1RequestHead()
  /// The part of the current line that has arrived.
  private var line: [UInt8] = []
  /// How many more bytes the header section, or the trailers, may take.
  private var room: Int
  private var skippedEmptyLine = false
  private let headLimit: Int

  private static let chunkLineLimit = 256
  private static let keptLine = 256

  init(headLimit: Int) {
    self.headLimit = headLimit
    room = headLimit
  }

  /// Whether a header section was started and is incomplete.
  var isInsideHead: Bool {
    switch state {
    case .requestLine: !line.isEmpty
    case .fields: true
    default: false
    }
  }

  /// Continues to parse, and removes the bytes that it read from `bytes`.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer) -> Event {
    while true {
      switch state {
      case .plain(let left):
        guard left > 0 else { return endBody() }
        guard !bytes.isEmpty else { return .incomplete }
        let piece = Self.take(left, of: &bytes)
        state = .plain(left - piece.count)
        return .body(piece)
      case .chunk(let left):
        guard left > 0 else {
          state = .chunkEnd
          continue
        }
        guard !bytes.isEmpty else { return .incomplete }
        let piece = Self.take(left, of: &bytes)
        state = .chunk(left - piece.count)
        return .body(piece)
      case .broken:
        return .refused(.malformed)
      case .requestLine, .fields, .chunkSize, .chunkEnd, .trailers:
        guard let event = readLine(&bytes) else { continue }
        return event
      }
    }
  }

  private static func take(_ limit: Int, of bytes: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let count = min(limit, bytes.count)
    defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[count...]) }
    return UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }

  /// `nil` if there is no event yet and more to read.
  private mutating func readLine(_ bytes: inout UnsafeRawBufferPointer) -> Event? {
    switch takeLine(&bytes) {
    case .incomplete: return .incomplete
    case .tooLong: return refuse(isInsideBody ? .malformed : .tooLarge)
    case .malformed: return refuse(.malformed)
    case .whole:
      // The memory is used for the next line, unless it is much for an idle connection.
      defer { line.removeAll(keepingCapacity: line.count <= Self.keptLine) }
      return read(line.dropLast(2))
    }
  }

  private var isInsideBody: Bool {
    switch state {
    case .requestLine, .fields: false
    default: true
    }
  }

  private mutating func takeLine(_ bytes: inout UnsafeRawBufferPointer) -> Line {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    let count = end.map { $0 + 1 } ?? bytes.count
    guard count <= room else { return .tooLong }
    room -= count
    line += Self.take(count, of: &bytes)
    guard end != nil else { return .incomplete }
    guard line.count >= 2, line[line.count - 2] == UInt8(ascii: "\r") else { return .malformed }
    return .whole
  }

  private mutating func read(_ line: ArraySlice<UInt8>) -> Event? {
    switch state {
    case .requestLine: return readRequestLine(line)
    case .fields:
      guard line.isEmpty else { return head.readField(line).map { refuse($0) } }
      return endHead()
    case .chunkSize:
      guard let size = HTTP1Syntax.chunkSize(line) else { return refuse(.malformed) }
      state = size > 0 ? .chunk(size) : .trailers
      room = size > 0 ? Self.chunkLineLimit : headLimit
      return nil
    case .chunkEnd:
      guard line.isEmpty else { return refuse(.malformed) }
      state = .chunkSize
      room = Self.chunkLineLimit
      return nil
    case .trailers:
      if line.isEmpty { return endBody() }
      // gRPC ignores trailers, but they must be valid, because a proxy parses them too.
      return HTTP1Syntax.isField(line) ? nil : refuse(.malformed)
    case .plain, .chunk, .broken:
      return refuse(.malformed)
    }
  }

  private mutating func readRequestLine(_ line: ArraySlice<UInt8>) -> Event? {
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
      state = .chunkSize
      room = Self.chunkLineLimit
    } else if whole.hasBody {
      state = .plain(whole.bodyLength ?? 0)
    }
    return .head(whole)
  }

  private mutating func endBody() -> Event {
    startAgain()
    return .end
  }

  private mutating func startAgain() {
    state = .requestLine
    head = HTTP1RequestHead()
    room = headLimit
    skippedEmptyLine = false
  }

  private mutating func refuse(_ refusal: HTTP1Refusal) -> Event {
    state = .broken
    line = []
    return .refused(refusal)
  }
}

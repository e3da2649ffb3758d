// unsafe: request bytes that the socket lends for one read

/// An incremental parser for the body of an HTTP/1.1 message.
struct HTTP1Body {
  /// ```
  ///   plain(n) ───────────────────────> over
  ///   chunkSize ──0──> trailers ──────> over
  ///   ^    └──n──> chunk(n) ──> chunkEnd─┐
  ///   └──────────────────────────────────┘
  ///   untilClose
  /// ```
  private enum State {
    case plain(Int)
    case chunkSize, chunkEnd, trailers
    case chunk(Int)
    case untilClose
  }

  enum Event {
    /// All bytes were read; more are necessary.
    case incomplete
    /// A piece of the body, in the caller's memory.
    case piece(UnsafeRawBufferPointer)
    case end
    case malformed
  }

  private var state: State
  private let trailerLimit: Int

  private static let chunkLineLimit = 256

  /// A body of `length` bytes.
  init(length: Int) {
    state = .plain(length)
    trailerLimit = 0
  }

  /// A body in chunks, whose lines are collected in `line`.
  init(chunkedInto line: inout HTTP1Line, trailerLimit: Int) {
    state = .chunkSize
    self.trailerLimit = trailerLimit
    line.room = Self.chunkLineLimit
  }

  private init(_ state: State) {
    self.state = state
    trailerLimit = 0
  }

  /// A body that ends with the connection.
  static let untilClose = HTTP1Body(.untilClose)

  var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

  /// Continues to parse, and removes the bytes that it read from `bytes`. `line` keeps what has arrived of a line.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer, _ line: inout HTTP1Line) -> Event {
    while true {
      switch state {
      case .plain(let left):
        guard left > 0 else { return .end }
        guard !bytes.isEmpty else { return .incomplete }
        let piece = Self.take(left, of: &bytes)
        state = .plain(left - piece.count)
        return .piece(piece)
      case .chunk(let left):
        guard left > 0 else {
          state = .chunkEnd
          continue
        }
        guard !bytes.isEmpty else { return .incomplete }
        let piece = Self.take(left, of: &bytes)
        state = .chunk(left - piece.count)
        return .piece(piece)
      case .untilClose:
        guard !bytes.isEmpty else { return .incomplete }
        return .piece(Self.take(.max, of: &bytes))
      case .chunkSize, .chunkEnd, .trailers:
        switch line.take(from: &bytes) {
        case .incomplete: return .incomplete
        case .tooLong, .malformed: return .malformed
        case .whole(let content): if let event = content.withBytes({ read($0, &line) }) { return event }
        }
      }
    }
  }

  /// Reads a whole line. Returns `nil` if there is no event yet and more to read.
  private mutating func read(_ content: HTTP1Syntax.Bytes, _ line: inout HTTP1Line) -> Event? {
    switch state {
    case .chunkSize:
      guard let size = HTTP1Syntax.chunkSize(content) else { return .malformed }
      state = size > 0 ? .chunk(size) : .trailers
      line.room = size > 0 ? Self.chunkLineLimit : trailerLimit
    case .chunkEnd:
      guard content.isEmpty else { return .malformed }
      state = .chunkSize
      line.room = Self.chunkLineLimit
    case .trailers:
      if content.isEmpty { return .end }
      // gRPC ignores trailers, but they must be valid, because a proxy parses them too.
      guard HTTP1Syntax.isField(content) else { return .malformed }
    case .plain, .chunk, .untilClose: return .malformed
    }
    return nil
  }

  /// Removes up to `limit` bytes from the front of `bytes`.
  static func take(_ limit: Int, of bytes: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let count = min(limit, bytes.count)
    defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[count...]) }
    return UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }
}

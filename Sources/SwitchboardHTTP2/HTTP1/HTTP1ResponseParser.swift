import SwitchboardCall

/// Parses HTTP/1.1 responses incrementally, as strictly as `HTTP1Parser` parses requests.
struct HTTP1ResponseParser {
  /// ```
  ///   statusLine ──> fields ──┬──no body, or informational──────────────> statusLine
  ///                           ├──length──> plain(n) ────────────────────────^
  ///                           ├──chunked─> chunkSize ──0──> trailers ───────^
  ///                           │            ^    └──n──> chunk(n) ──> chunkEnd─┐
  ///                           │            └──────────────────────────────────┘
  ///                           └──neither─> untilClose
  /// ```
  private enum State {
    case statusLine, fields
    case plain(Int)
    case chunkSize, chunkEnd, trailers
    case chunk(Int)
    case untilClose
    case broken
  }

  enum Event {
    /// All bytes were read; more are necessary.
    case incomplete
    case head(Head)
    /// A piece of the body, in the caller's memory.
    case body(UnsafeRawBufferPointer)
    /// The end of a body. Not reported for responses without one.
    case end
    /// The response is invalid; nothing more can be read.
    case broken
  }

  /// The status line and the fields, with field names in lower case.
  struct Head {
    fileprivate(set) var status: [UInt8] = []
    fileprivate(set) var fields: [(name: [UInt8], value: [UInt8])] = []
    fileprivate(set) var closes = false
    fileprivate(set) var hasBody = false
    fileprivate var isChunked = false
    fileprivate var bodyLength: Int?

    var isInformational: Bool { status.first == UInt8(ascii: "1") }
  }

  private var state = State.statusLine
  private var head = Head()
  private var line: [UInt8] = []
  private var room: Int
  private let headLimit: Int

  private static let fieldLimit = 256
  private static let chunkLineLimit = 256

  init(headLimit: Int) {
    self.headLimit = headLimit
    room = headLimit
  }

  /// Whether a header section was started and is incomplete.
  var isInsideHead: Bool {
    switch state {
    case .statusLine: !line.isEmpty
    case .fields: true
    default: false
    }
  }

  /// Whether the body ends with the connection.
  var endsWithConnection: Bool { if case .untilClose = state { true } else { false } }

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
      case .untilClose:
        guard !bytes.isEmpty else { return .incomplete }
        return .body(Self.take(.max, of: &bytes))
      case .broken:
        return .broken
      case .statusLine, .fields, .chunkSize, .chunkEnd, .trailers:
        guard takeLine(&bytes) else { return isBroken ? .broken : .incomplete }
        let whole = line.dropLast(2)
        line = []
        if let event = read(whole) { return event }
      }
    }
  }

  /// Parses bytes up to an event after which `goesOn` returns `false`, as it must after those that end them.
  mutating func read(_ bytes: [UInt8], _ goesOn: (Event) -> Bool) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while goesOn(next(&rest)) {}
    }
  }

  private var isBroken: Bool { if case .broken = state { true } else { false } }

  private static func take(_ limit: Int, of bytes: inout UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    let count = min(limit, bytes.count)
    defer { bytes = UnsafeRawBufferPointer(rebasing: bytes[count...]) }
    return UnsafeRawBufferPointer(rebasing: bytes[..<count])
  }

  /// Whether the line is complete.
  private mutating func takeLine(_ bytes: inout UnsafeRawBufferPointer) -> Bool {
    let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    let piece = Self.take((end ?? bytes.count - 1) + 1, of: &bytes)
    guard piece.count <= room else {
      state = .broken
      return false
    }
    room -= piece.count
    line += piece
    guard end != nil else { return false }
    guard line.count >= 2, line[line.count - 2] == UInt8(ascii: "\r") else {
      state = .broken
      return false
    }
    return true
  }

  private mutating func read(_ line: ArraySlice<UInt8>) -> Event? {
    switch state {
    case .statusLine: readStatusLine(line) ? nil : fail()
    case .fields: line.isEmpty ? endHead() : readField(line) ? nil : fail()
    case .chunkSize: readChunkSize(line)
    case .chunkEnd: line.isEmpty ? startChunk() : fail()
    case .trailers: line.isEmpty ? endBody() : HTTP1Syntax.isField(line) ? nil : fail()
    case .plain, .chunk, .untilClose, .broken: fail()
    }
  }

  private mutating func fail() -> Event {
    state = .broken
    line = []
    return .broken
  }

  /// `HTTP/1.1 200 Fine`; the version 1.0 is taken too, whose connections close.
  private mutating func readStatusLine(_ line: ArraySlice<UInt8>) -> Bool {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].count == 3, HTTP1Syntax.number(parts[1]).map({ $0 >= 100 }) == true
    else { return false }
    if parts[0].elementsEqual("HTTP/1.0".utf8) {
      head.closes = true
    } else if !parts[0].elementsEqual("HTTP/1.1".utf8) {
      return false
    }
    head.status = Array(parts[1])
    state = .fields
    return true
  }

  private mutating func readField(_ line: ArraySlice<UInt8>) -> Bool {
    guard head.fields.count < Self.fieldLimit, let (name, value) = HTTP1Syntax.field(line) else {
      return false
    }
    let lower = name.map(HTTP1Syntax.lowercased)
    switch String(decoding: lower, as: UTF8.self) {
    case "content-length":
      guard head.bodyLength == nil, let length = HTTP1Syntax.number(value) else { return false }
      head.bodyLength = length
    case "transfer-encoding":
      guard !head.isChunked, HTTP1Syntax.isWord(value, "chunked") else { return false }
      head.isChunked = true
    case "connection":
      let words = value.split(separator: UInt8(ascii: ",")).map(HTTP1Syntax.trimmed)
      if words.contains(where: { HTTP1Syntax.isWord($0, "close") }) { head.closes = true }
    case "keep-alive", "proxy-connection", "upgrade": break
    default: head.fields.append((lower, Array(value)))
    }
    return true
  }

  private mutating func endHead() -> Event {
    // Two ways to find the end of the body would let proxies and us see different responses.
    guard !head.isChunked || head.bodyLength == nil else { return fail() }
    // Nobody has asked for another protocol.
    guard !head.status.elementsEqual("101".utf8) else { return fail() }
    room = headLimit
    if head.isInformational || head.status.elementsEqual("204".utf8) || head.status.elementsEqual("304".utf8)
    {
      state = .statusLine
    } else if head.isChunked {
      head.hasBody = true
      state = .chunkSize
      room = Self.chunkLineLimit
    } else if let length = head.bodyLength {
      head.hasBody = length > 0
      state = length > 0 ? .plain(length) : .statusLine
    } else {
      head.hasBody = true
      head.closes = true
      state = .untilClose
    }
    defer { head = Head() }
    return .head(head)
  }

  private mutating func readChunkSize(_ line: ArraySlice<UInt8>) -> Event? {
    guard let size = HTTP1Syntax.chunkSize(line) else { return fail() }
    state = size > 0 ? .chunk(size) : .trailers
    room = size > 0 ? Self.chunkLineLimit : headLimit
    return nil
  }

  private mutating func startChunk() -> Event? {
    state = .chunkSize
    room = Self.chunkLineLimit
    return nil
  }

  private mutating func endBody() -> Event {
    state = .statusLine
    room = headLimit
    return .end
  }
}

// unsafe: request bytes that the socket lends for one read

import SwitchboardCall
import SwitchboardText

/// Parses HTTP/1.1 responses incrementally, as strictly as `HTTP1Parser` parses requests.
struct HTTP1ResponseParser {
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

  private var framing: HTTP1Framing
  private var head = Head()

  private static let fieldLimit = 256

  init(headLimit: Int) { framing = HTTP1Framing(headLimit: headLimit) }

  /// The number of the header section that was started and is incomplete; zero if there is none.
  var incompleteHead: Int { framing.incompleteHead }

  /// Whether the body ends with the connection.
  var endsWithConnection: Bool { framing.endsWithConnection }

  /// Continues to parse, and removes the bytes that it read from `bytes`.
  mutating func next(_ bytes: inout UnsafeRawBufferPointer) -> Event {
    while true {
      switch framing.next(&bytes) {
      case .incomplete: return .incomplete
      case .body(let piece): return .body(piece)
      case .end: return .end
      case .refused: return fail()
      case .line(let content): if let event = content.withBytes({ read($0) }) { return event }
      }
    }
  }

  /// Parses bytes until `continues` returns `false` for an event. It must do so for events that end the bytes.
  mutating func read(_ bytes: [UInt8], _ continues: (Event) -> Bool) {
    bytes.withUnsafeBytes { bytes in
      var rest = bytes
      while continues(next(&rest)) {}
    }
  }

  /// Returns `nil` if there is no event yet and more to read.
  private mutating func read(_ line: HTTP1Syntax.Bytes) -> Event? {
    guard framing.isInFields else { return readStatusLine(line) ? nil : fail() }
    return line.isEmpty ? endHead() : readField(line) ? nil : fail()
  }

  private mutating func fail() -> Event {
    framing.stop()
    return .broken
  }

  /// Parses `HTTP/1.1 200 Fine`. Version 1.0 is accepted too; its connections close after the response.
  private mutating func readStatusLine(_ line: HTTP1Syntax.Bytes) -> Bool {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].count == 3, HTTP1Syntax.number(parts[1]).map({ $0 >= 100 }) == true
    else { return false }
    if parts[0].elementsEqual("HTTP/1.0".utf8) {
      head.closes = true
    } else if !parts[0].elementsEqual("HTTP/1.1".utf8) {
      return false
    }
    head.status = Array(parts[1])
    framing.expectFields()
    return true
  }

  private mutating func readField(_ line: HTTP1Syntax.Bytes) -> Bool {
    guard head.fields.count < Self.fieldLimit, let (name, value) = HTTP1Syntax.field(line) else {
      return false
    }
    switch name {
    case "content-length":
      guard head.bodyLength == nil, let length = HTTP1Syntax.number(value) else { return false }
      head.bodyLength = length
    case "transfer-encoding":
      guard !head.isChunked, HTTP1Syntax.isWord(value, "chunked") else { return false }
      head.isChunked = true
    case "connection":
      if HTTP1Syntax.list(value, contains: "close") { head.closes = true }
    case "keep-alive", "proxy-connection", "upgrade": break
    default: head.fields.append((name.map(\.lowercased), Array(value)))
    }
    return true
  }

  private mutating func endHead() -> Event {
    // With two ways to find the end of the body, a proxy and this client could see different responses.
    guard !head.isChunked || head.bodyLength == nil else { return fail() }
    // No request asks to switch protocols.
    guard !head.status.elementsEqual("101".utf8) else { return fail() }
    if head.isInformational || head.status.elementsEqual("204".utf8) || head.status.elementsEqual("304".utf8)
    {
      framing.expectStartLine()
    } else if head.isChunked {
      head.hasBody = true
      framing.expectChunks()
    } else if let length = head.bodyLength, length > 0 {
      head.hasBody = true
      framing.expectBody(length: length)
    } else if head.bodyLength != nil {
      framing.expectStartLine()
    } else {
      head.hasBody = true
      head.closes = true
      framing.expectBodyUntilClose()
    }
    defer { head = Head() }
    return .head(head)
  }
}

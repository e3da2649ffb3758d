// unsafe: request bytes that the socket lends for one read

import SwitchboardCall
import SwitchboardText

/// The request line and the header fields of an HTTP/1.1 request.
struct HTTP1RequestHead {
  typealias Bytes = HTTP1Syntax.Bytes

  private(set) var closes = false
  private(set) var expectsContinue = false
  private(set) var isChunked = false
  private(set) var bodyLength: Int?
  /// The names and values of all fields in one buffer, which most requests allocate only once.
  private var bytes: [UInt8] = []
  /// Where each name and each value ends in `bytes`.
  private var ends: [Int] = []
  private var fieldCount = 0
  private var hostCount = 0

  private static let fieldLimit = 128
  private static let usualByteCount = 480
  private static let usualFieldCount = 15

  var hasBody: Bool { isChunked || (bodyLength ?? 0) > 0 }

  /// Passes each field to `body` in HTTP/2's form: the method and the path first, names in lower case, and without
  /// fields that only concern the connection.
  func forEachField(_ body: (_ name: Bytes, _ value: Bytes) -> Void) {
    bytes.withUnsafeBufferPointer { bytes in
      var start = 0
      for index in stride(from: 0, to: ends.count, by: 2) {
        let (middle, end) = (ends[index], ends[index + 1])
        body(Bytes(rebasing: bytes[start..<middle]), Bytes(rebasing: bytes[middle..<end]))
        start = end
      }
    }
  }

  private mutating func append(_ name: Bytes, _ value: Bytes) {
    let start = bytes.count
    bytes += name
    for index in start..<bytes.count { bytes[index] = bytes[index].lowercased }
    ends.append(bytes.count)
    bytes += value
    ends.append(bytes.count)
  }

  private mutating func append(_ name: StaticString, _ value: Bytes) {
    append(Bytes(start: name.utf8Start, count: name.utf8CodeUnitCount), value)
  }

  /// Parses the request line. Returns why the request is rejected, if it is.
  mutating func readRequestLine(_ line: Bytes) -> HTTP1Refusal? {
    // A line without a slash, and thus without `HTTP/`, gets no HTTP answer: it may be a broken HTTP/2 preface.
    guard line.isEmpty || line.contains(UInt8(ascii: "/")) else { return .notHTTP }
    let space = UInt8(ascii: " ")
    guard let first = line.firstIndex(of: space), let last = line[(first + 1)...].firstIndex(of: space) else {
      return .malformed
    }
    let method = Bytes(rebasing: line[..<first])
    let target = Bytes(rebasing: line[(first + 1)..<last])
    let version = Bytes(rebasing: line[(last + 1)...])
    guard FieldSyntax.isToken(method), MethodDescriptor.isTarget(target),
      let path = Self.path(of: target), !version.contains(space)
    else { return .malformed }
    guard version.equals("HTTP/1.1") else {
      return version.starts(with: "HTTP/".utf8) ? .otherVersion : .malformed
    }
    bytes.reserveCapacity(Self.usualByteCount)
    ends.reserveCapacity(Self.usualFieldCount * 2)
    append(":method", method)
    append(":path", path)
    return nil
  }

  /// A target is a path, an absolute URL, or a star. In a URL without a path, a slash of its query must not be taken for
  /// the path's.
  private static func path(of target: Bytes) -> Bytes? {
    if target.first == UInt8(ascii: "/") || target.equals("*") { return target }
    for scheme in ["http://", "https://"] where target.starts(with: scheme.utf8) {
      let rest = target.dropFirst(scheme.utf8.count)
      let host = Bytes(rebasing: rest.prefix { $0 != UInt8(ascii: "/") })
      guard !host.isEmpty, FieldSyntax.isHost(host) else { return nil }
      if host.count < rest.count { return Bytes(rebasing: rest.dropFirst(host.count)) }
      return Bytes(start: root.utf8Start, count: root.utf8CodeUnitCount)
    }
    return nil
  }

  private static let root: StaticString = "/"

  /// Parses one field. Returns why the request is rejected, if it is.
  mutating func readField(_ line: Bytes) -> HTTP1Refusal? {
    fieldCount += 1
    guard fieldCount <= Self.fieldLimit else { return .tooLarge }
    guard let (name, value) = HTTP1Syntax.field(line) else { return .malformed }
    return note(name, value)
  }

  private mutating func note(_ name: Bytes, _ value: Bytes) -> HTTP1Refusal? {
    switch name {
    case "host":
      guard FieldSyntax.isHost(value) else { return .malformed }
      hostCount += 1
      append(":authority", value)
    case "content-length":
      guard bodyLength == nil, let length = HTTP1Syntax.number(value) else { return .malformed }
      bodyLength = length
    case "transfer-encoding":
      guard !isChunked else { return .malformed }
      guard HTTP1Syntax.isWord(value, "chunked") else { return .unknownCoding }
      isChunked = true
    case "expect":
      guard HTTP1Syntax.isWord(value, "100-continue") else { return .unknownExpectation }
      expectsContinue = true
    case "connection":
      if HTTP1Syntax.list(value, contains: "close") { closes = true }
    case "keep-alive", "proxy-connection", "te", "upgrade", "http2-settings": break
    default: append(name, value)
    }
    return nil
  }

  /// Why the head as a whole is rejected; `nil` if it is valid.
  func refusal() -> HTTP1Refusal? {
    // With two ways to find the end of the body, a proxy and this server could see different requests.
    hostCount != 1 || isChunked && bodyLength != nil ? .malformed : nil
  }
}

/// Why a request is rejected: the status of the response, and the reason that is counted.
struct HTTP1Refusal {
  let status: StaticString
  let abuse: PeerAbuse

  init(_ status: StaticString, _ abuse: PeerAbuse) {
    self.status = status
    self.abuse = abuse
  }

  /// The connection is closed without a response.
  static let notHTTP = HTTP1Refusal("", .protocolViolation)
  static let malformed = HTTP1Refusal("400", .protocolViolation)
  static let tooLarge = HTTP1Refusal("431", .headersTooLarge)
  static let unknownExpectation = HTTP1Refusal("417", .protocolViolation)
  static let unknownCoding = HTTP1Refusal("501", .protocolViolation)
  static let otherVersion = HTTP1Refusal("505", .protocolViolation)
}

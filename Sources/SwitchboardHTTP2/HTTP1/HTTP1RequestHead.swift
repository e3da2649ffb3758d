import SwitchboardCall

/// The request line and the header fields of an HTTP/1.1 request, with field names in lower case.
struct HTTP1RequestHead {
  var method: [UInt8] = []
  var path: [UInt8] = []
  /// Without fields that only concern the connection.
  var fields: [(name: [UInt8], value: [UInt8])] = []
  var closes = false
  var expectsContinue = false
  var isChunked = false
  var bodyLength: Int?
  private var fieldCount = 0
  private var hostCount = 0

  private static let fieldLimit = 128

  var hasBody: Bool { isChunked || (bodyLength ?? 0) > 0 }

  /// Parses the request line. Returns why the request is rejected, if it is.
  mutating func readRequestLine(_ line: ArraySlice<UInt8>) -> HTTP1Refusal? {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    // What does not even name HTTP gets no answer in it: it may be a broken preface of HTTP/2.
    guard line.isEmpty || line.contains(UInt8(ascii: "/")) else { return .notHTTP }
    guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(HTTP1Syntax.isToken) else {
      return .malformed
    }
    guard parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let path = Self.path(of: parts[1]) else {
      return .malformed
    }
    guard parts[2].elementsEqual("HTTP/1.1".utf8) else {
      return parts[2].starts(with: "HTTP/".utf8) ? .otherVersion : .malformed
    }
    method = Array(parts[0])
    self.path = Array(path)
    return nil
  }

  /// A target is a path, an absolute URL, or a star.
  private static func path(of target: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    if target.first == UInt8(ascii: "/") || target.elementsEqual("*".utf8) { return target }
    for scheme in ["http://", "https://"] where target.starts(with: scheme.utf8) {
      let rest = target.dropFirst(scheme.utf8.count)
      return rest.firstIndex(of: UInt8(ascii: "/")).map { rest[$0...] } ?? ArraySlice("/".utf8)
    }
    return nil
  }

  /// Parses one field. Returns why the request is rejected, if it is.
  mutating func readField(_ line: ArraySlice<UInt8>) -> HTTP1Refusal? {
    fieldCount += 1
    guard fieldCount <= Self.fieldLimit else { return .tooLarge }
    guard let (name, value) = HTTP1Syntax.field(line) else { return .malformed }
    return note(name.map(HTTP1Syntax.lowercased), value)
  }

  private mutating func note(_ name: [UInt8], _ value: ArraySlice<UInt8>) -> HTTP1Refusal? {
    switch String(decoding: name, as: UTF8.self) {
    case "host": hostCount += 1
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
      let words = value.split(separator: UInt8(ascii: ",")).map(HTTP1Syntax.trimmed)
      if words.contains(where: { HTTP1Syntax.isWord($0, "close") }) { closes = true }
    case "keep-alive", "proxy-connection", "te", "upgrade", "http2-settings": break
    default: fields.append((name, Array(value)))
    }
    return nil
  }

  /// Why the head as a whole is rejected; `nil` if it is valid.
  func refusal() -> HTTP1Refusal? {
    // Two ways to find the end of the body would let proxies and us see different requests.
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

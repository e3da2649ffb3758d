import SwitchboardCall

/// A complete response to an HTTP/1.1 request.
package struct HTTPAnswer: Sendable {
  package let status: Int
  /// The headers, with names in lower case, and without those that concern only the connection or the body's length.
  package let headers: [(String, String)]
  /// The body, truncated at the limit.
  package let body: [UInt8]

  /// The first value of a header, whose name is in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.0 == name }?.1 }
}

/// Parses one response incrementally. It keeps a limited amount of the head and of the body.
package struct HTTPAnswerParser {
  package enum Progress {
    case more
    case whole(HTTPAnswer)
    case invalid
  }

  static let headLimit = 16 * 1024
  static let bodyLimit = 64 * 1024
  /// How many informational responses may precede the response.
  private static let informationLimit = 100

  private var parser = HTTP1ResponseParser(headLimit: headLimit)
  private var head: HTTP1ResponseParser.Head?
  private var body: [UInt8] = []
  private var isWhole = false
  private var informationCount = 0

  package init() {}

  /// Whether anything has arrived.
  var hasBegun: Bool { head != nil || parser.incompleteHead != 0 }

  /// Processes bytes that have arrived.
  package mutating func take(_ bytes: some Collection<UInt8>) -> Progress { read(Array(bytes)) }

  private mutating func read(_ bytes: [UInt8]) -> Progress {
    guard !isWhole else { return answer }
    // A server of another protocol may wait for more than it gets, and never end a line.
    guard hasBegun || (bytes.first ?? UInt8(ascii: "H")) == UInt8(ascii: "H") else { return .invalid }
    var progress = Progress.more
    var parser = parser
    parser.read(bytes) { event in
      guard let end = take(event) else { return true }
      progress = end
      return false
    }
    self.parser = parser
    return progress
  }

  /// The connection has ended.
  package mutating func end() -> Progress { isWhole || parser.endsWithConnection ? answer : .invalid }

  /// `nil` if the response is not complete yet.
  private mutating func take(_ event: HTTP1ResponseParser.Event) -> Progress? {
    switch event {
    case .incomplete: return .more
    case .head(let head) where head.isInformational:
      informationCount += 1
      return informationCount <= Self.informationLimit ? nil : .invalid
    case .head(let head):
      self.head = head
      isWhole = !head.hasBody
    case .body(let piece): body += piece.prefix(max(0, Self.bodyLimit - body.count))
    case .end: isWhole = true
    case .broken: return .invalid
    }
    return isWhole ? answer : nil
  }

  private var answer: Progress {
    guard let head, let status = HTTP1Syntax.number(head.status) else { return .invalid }
    let headers = head.fields.map {
      (String(decoding: $0.name, as: UTF8.self), String(decoding: $0.value, as: UTF8.self))
    }
    return .whole(HTTPAnswer(status: status, headers: headers, body: body))
  }
}

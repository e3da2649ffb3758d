import SwitchboardCall

/// A whole answer to an HTTP/1.1 request.
package struct HTTPAnswer: Sendable {
  package let status: Int
  /// With names in lower case.
  package let headers: [(String, String)]
  /// Cut at the limit.
  package let body: [UInt8]

  /// The first value of a header, whose name is in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.0 == name }?.1 }
}

/// Reads one answer to one request, from bytes as they arrive. It keeps so much of the head and of the body, and no more.
package struct HTTPAnswerParser {
  private enum State {
    case head
    /// `nil`: until the connection ends.
    case body(left: Int?)
    case chunkSize, chunkEnd, trailers
    case chunk(left: Int)
    case whole
  }

  package enum Progress {
    case more
    case whole(HTTPAnswer)
    case invalid
  }

  static let headLimit = 16 * 1024
  static let bodyLimit = 64 * 1024

  private var state = State.head
  private var line: [UInt8] = []
  private var headSize = 0
  private var status = 0
  private var headers: [(String, String)] = []
  private var body: [UInt8] = []
  private var chunkCount = 0

  package init() {}

  /// Whether anything has arrived.
  var hasBegun: Bool { status != 0 || !line.isEmpty }

  /// Takes bytes that have arrived.
  package mutating func take(_ bytes: some Collection<UInt8>) -> Progress {
    var rest = Array(bytes)[...]
    while !rest.isEmpty {
      switch state {
      case .body(let left):
        let piece = rest.prefix(left ?? rest.count)
        keep(piece)
        rest = rest.dropFirst(piece.count)
        if let left {
          state = left == piece.count ? .whole : .body(left: left - piece.count)
        }
      case .chunk(let left):
        let piece = rest.prefix(left)
        keep(piece)
        rest = rest.dropFirst(piece.count)
        state = left == piece.count ? .chunkEnd : .chunk(left: left - piece.count)
      case .head, .chunkSize, .chunkEnd, .trailers:
        guard let whole = takeLine(&rest) else { return headSize > Self.headLimit ? .invalid : .more }
        guard takeLine(whole) else { return .invalid }
      case .whole: rest = []
      }
    }
    return progress
  }

  /// The connection has ended.
  package mutating func end() -> Progress {
    if case .body(left: nil) = state { state = .whole }
    if case .whole = state { return progress }
    return .invalid
  }

  private var progress: Progress {
    guard case .whole = state else { return .more }
    return .whole(HTTPAnswer(status: status, headers: headers, body: body))
  }

  private mutating func keep(_ piece: ArraySlice<UInt8>) {
    body += piece.prefix(max(0, Self.bodyLimit - body.count))
  }

  /// A line without its end; `nil` if it has not arrived.
  private mutating func takeLine(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
    let end = rest.firstIndex(of: UInt8(ascii: "\n"))
    let piece = rest[..<(end ?? rest.endIndex)]
    headSize += piece.count + 1
    guard headSize <= Self.headLimit else { return nil }
    line += piece
    rest = rest[(end.map { $0 + 1 } ?? rest.endIndex)...]
    guard end != nil else { return nil }
    defer { line = [] }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return line
  }

  /// `false`: it is not HTTP.
  private mutating func takeLine(_ line: [UInt8]) -> Bool {
    switch state {
    case .head:
      if status == 0 { return takeStatus(line) }
      return line.isEmpty ? endHead() : takeField(line)
    case .chunkSize: return takeChunkSize(line)
    case .chunkEnd:
      guard line.isEmpty else { return false }
      state = .chunkSize
    case .trailers:
      if line.isEmpty { state = .whole }
    case .body, .chunk, .whole: return false
    }
    return true
  }

  private mutating func takeStatus(_ line: [UInt8]) -> Bool {
    let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard parts.count >= 2, parts[0].starts(with: "HTTP/1.".utf8), parts[1].count == 3,
      let code = Int(String(decoding: parts[1], as: UTF8.self)), (100...599).contains(code)
    else { return false }
    status = code
    return true
  }

  private mutating func takeField(_ line: [UInt8]) -> Bool {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > 0 else { return false }
    let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
    let value = line[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
    headers.append((name, String(decoding: value, as: UTF8.self)))
    return true
  }

  private mutating func endHead() -> Bool {
    if status < 200 {
      // Something is said before the answer.
      status = 0
      headers = []
      return true
    }
    if status == 204 || status == 304 {
      state = .whole
    } else if let coding = headers.first(where: { $0.0 == "transfer-encoding" })?.1 {
      guard coding.lowercased() == "chunked" else { return false }
      state = .chunkSize
    } else if let length = headers.first(where: { $0.0 == "content-length" })?.1 {
      guard let count = Int(length), count >= 0 else { return false }
      state = count == 0 ? .whole : .body(left: count)
    } else {
      state = .body(left: nil)
    }
    return true
  }

  private mutating func takeChunkSize(_ line: [UInt8]) -> Bool {
    let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    guard (1...8).contains(digits.count), let size = Int(String(decoding: digits, as: UTF8.self), radix: 16),
      size >= 0
    else { return false }
    chunkCount += 1
    // The lines of chunks do not count as a head, but there is an end to them.
    guard chunkCount <= 10_000 else { return false }
    headSize = 0
    state = size == 0 ? .trailers : .chunk(left: size)
    return true
  }
}

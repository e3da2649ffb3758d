import SwitchboardCall

/// Splits the output of one side of HTTP/1.1 into heads and bodies.
final class HTTP1Reader {
  struct Head {
    /// The words of the first line, such as `HTTP/1.1`, `200` and `OK`.
    let words: [String]
    let fields: [String: String]

    var closes: Bool { fields["connection"] == "close" }
  }

  enum Event {
    case head(Head)
    case body([UInt8])
    /// The message is whole.
    case end
  }

  private enum State {
    case head, end
    case body(Int)
    case chunkSize
    case chunk(Int)
    case chunkEnd, trailers
  }

  private var bytes: [UInt8] = []
  private var state = State.head

  func append(_ more: UnsafeRawBufferPointer) { bytes += more }

  /// What has arrived since the last time, in order.
  func takeEvents() throws(Violation) -> [Event] {
    var events: [Event] = []
    while let event = try next() { events.append(event) }
    return events
  }

  private func next() throws(Violation) -> Event? {
    while true {
      switch state {
      case .head:
        guard let head = try takeHead() else { return nil }
        return .head(head)
      case .end, .body(0):
        state = .head
        return .end
      case .body(let left):
        guard !bytes.isEmpty else { return nil }
        let piece = take(left)
        state = .body(left - piece.count)
        return .body(piece)
      case .chunkSize:
        guard let line = takeLine() else { return nil }
        guard let size = Int(line, radix: 16) else { throw Violation("a chunk has the size \(line)") }
        state = size > 0 ? .chunk(size) : .trailers
      case .chunk(0): state = .chunkEnd
      case .chunk(let left):
        guard !bytes.isEmpty else { return nil }
        let piece = take(left)
        state = .chunk(left - piece.count)
        return .body(piece)
      case .chunkEnd:
        guard let line = takeLine() else { return nil }
        try Violation.unless(line.isEmpty, "a chunk is longer than its size")
        state = .chunkSize
      case .trailers:
        guard let line = takeLine() else { return nil }
        try Violation.unless(line.isEmpty, "a body ends with \(line)")
        state = .end
      }
    }
  }

  private func take(_ count: Int) -> [UInt8] {
    let piece = Array(bytes.prefix(count))
    bytes.removeFirst(piece.count)
    return piece
  }

  private func takeLine() -> String? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\r")), end + 1 < bytes.count else { return nil }
    return String(decoding: take(end + 2).dropLast(2), as: UTF8.self)
  }

  private func takeHead() throws(Violation) -> Head? {
    let blank = Array("\r\n\r\n".utf8)
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: blank) }) else { return nil }
    let lines = String(decoding: take(end + blank.count), as: UTF8.self)
      .split(separator: "\r\n", omittingEmptySubsequences: true).map(String.init)
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ": ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, fields.updateValue(parts[1], forKey: parts[0]) == nil else {
        throw Violation("a head has the line \(line)")
      }
    }
    guard let words = lines.first?.split(separator: " ").map(String.init), words.count >= 2 else {
      throw Violation("a head has no first line")
    }
    if fields["transfer-encoding"] == "chunked" {
      try Violation.unless(fields["content-length"] == nil, "a body has two lengths")
      state = .chunkSize
    } else {
      state = .body(fields["content-length"].flatMap { Int($0) } ?? 0)
    }
    return Head(words: words, fields: fields)
  }
}

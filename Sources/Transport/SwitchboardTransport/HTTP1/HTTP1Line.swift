// unsafe: request bytes that the socket lends for one read

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Collects a line that arrives in pieces, up to a limit.
struct HTTP1Line {
  enum Progress {
    case incomplete, tooLong, malformed
    case whole(Content)
  }

  /// A whole line. Most are in one piece, and are read where they have arrived.
  enum Content {
    /// In the caller's memory, without the end of the line. It is read at once, while that memory is valid.
    case lent(UnsafeBufferPointer<UInt8>)
    case collected([UInt8])

    /// Passes the line without its end to `body`.
    func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
      switch self {
      case .lent(let bytes): body(bytes)
      case .collected(let bytes):
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0.dropLast(2))) }
      }
    }
  }

  /// How many more bytes may be taken until the limit is set again.
  var room: Int
  /// The part of the line that has arrived.
  private var bytes: [UInt8] = []

  init(room: Int) { self.room = room }

  /// Whether nothing of a line has arrived.
  var isEmpty: Bool { bytes.isEmpty }

  /// Removes from `input` what belongs to the line.
  mutating func take(from input: inout UnsafeRawBufferPointer) -> Progress {
    let end = Self.firstNewline(of: input)
    let count = end.map { $0 + 1 } ?? input.count
    guard count <= room else { return .tooLong }
    room -= count
    let piece = HTTP1Body.take(count, of: &input).assumingMemoryBound(to: UInt8.self)
    guard end != nil else {
      bytes += piece
      return .incomplete
    }
    guard bytes.isEmpty else {
      bytes += piece
      defer { bytes = [] }
      return bytes[bytes.count - 2] == UInt8(ascii: "\r") ? .whole(.collected(bytes)) : .malformed
    }
    guard count >= 2, piece[count - 2] == UInt8(ascii: "\r") else { return .malformed }
    return .whole(.lent(UnsafeBufferPointer(rebasing: piece[..<(count - 2)])))
  }

  private static func firstNewline(of input: UnsafeRawBufferPointer) -> Int? {
    guard let start = input.baseAddress else { return nil }
    return memchr(start, Int32(UInt8(ascii: "\n")), input.count).map { UnsafeRawPointer($0) - start }
  }
}

/// Collects a line that arrives in pieces, up to a limit.
struct HTTP1Line {
  enum Progress {
    case incomplete, tooLong, malformed
    /// `content` is the line.
    case whole
  }

  /// How many more bytes may be taken until the limit is set again.
  var room: Int
  private var bytes: [UInt8] = []

  private static let keptCapacity = 256

  init(room: Int) { self.room = room }

  /// Whether nothing of a line has arrived.
  var isEmpty: Bool { bytes.isEmpty }

  /// A whole line, without its end.
  var content: ArraySlice<UInt8> { bytes.dropLast(2) }

  /// Removes from `input` what belongs to the line.
  mutating func take(from input: inout UnsafeRawBufferPointer) -> Progress {
    let end = input.firstIndex(of: UInt8(ascii: "\n"))
    let count = end.map { $0 + 1 } ?? input.count
    guard count <= room else { return .tooLong }
    room -= count
    bytes += HTTP1Body.take(count, of: &input)
    guard end != nil else { return .incomplete }
    guard bytes.count >= 2, bytes[bytes.count - 2] == UInt8(ascii: "\r") else { return .malformed }
    return .whole
  }

  /// Begins the next line. It reuses the memory, unless that is much for an idle connection.
  mutating func clear() { bytes.removeAll(keepingCapacity: bytes.count <= Self.keptCapacity) }
}

/// Finds out whether a message takes little more time to decode than to copy, by a walk over its fields that ends as soon
/// as the answer is known.
///
/// Long strings, byte strings and packed numbers of a fixed width are copied as they are. Anything else may consist of
/// values that take two bytes each, so its bytes count as work.
struct BulkScan {
  /// The smallest value that counts as copied. Each takes an allocation.
  private static let leastBulk = 1024
  private static let depthLimit = 8

  private var reader: WireReader
  private var workLeft: Int

  /// `limit` is the number of bytes that may be work.
  init(_ reader: WireReader, limit: Int) {
    self.reader = reader
    workLeft = limit
  }

  /// Whether the message is within the limit. One that is malformed counts up to that point, where decoding fails too.
  mutating func isQuick(_ table: TableData) -> Bool {
    do throws(DecodeError) {
      return try walk(table, depthLeft: Self.depthLimit)
    } catch {
      return true
    }
  }

  private mutating func walk(_ table: TableData, depthLeft: Int) throws(DecodeError) -> Bool {
    while !reader.isAtEnd {
      let start = reader.cursor
      let tag = try reader.tag()
      switch tag.wireType {
      case .varint: _ = try reader.varint()
      case .fixed64: try reader.skip(8)
      case .fixed32: try reader.skip(4)
      case .startGroup, .endGroup: return false
      case .lengthDelimited:
        let length = try reader.length()
        guard length >= Self.leastBulk, let entry = table.entry(tag.number) else {
          try reader.skip(length)
          break
        }
        if entry.isMessage {
          guard depthLeft > 0 else { return false }
          let end = reader.end
          reader.end = reader.cursor + length
          guard try walk(table.message(of: entry), depthLeft: depthLeft - 1) else { return false }
          reader.end = end
          continue
        }
        try reader.skip(length)
        if entry.isCopied { continue }
      }
      workLeft -= reader.cursor - start
      guard workLeft >= 0 else { return false }
    }
    return true
  }
}

extension TableEntry {
  fileprivate var isMessage: Bool { type == .message && shape != .map }

  /// Whether a long value is copied as it is.
  fileprivate var isCopied: Bool {
    guard shape != .map else { return false }
    return switch type {
    case .bytes: true
    // Replacing invalid UTF-8, which is what happens unless it is an error, takes fifty times as long as checking it.
    case .string: checksUTF8
    case .fixed32, .sfixed32, .float, .fixed64, .sfixed64, .double: shape == .repeated
    default: false
    }
  }
}

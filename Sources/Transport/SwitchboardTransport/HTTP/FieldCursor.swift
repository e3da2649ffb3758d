// unsafe: nghttp2: one owner a session, callbacks within one call into it

import SwitchboardCall

/// Compares the fields of a header block, as they arrive, with those of a list that the cursor's owner keeps unchanged.
struct FieldCursor {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  private let memory: (bytes: UnsafePointer<UInt8>, positionsEnd: UnsafeRawPointer, count: Int)?
  /// How many fields were equal.
  private(set) var index = 0

  /// A cursor before the first field of a list.
  init(_ list: HPACKHeaders) { memory = list.memory }

  var isAtEnd: Bool { index == memory?.count ?? 0 }

  var isBeforeLast: Bool { index + 1 == memory?.count }

  mutating func rewind() { index = 0 }

  mutating func skip() { index += 1 }

  /// Moves on if the next field has this name and this value.
  @inline(__always)
  mutating func pass(_ name: Bytes, _ value: Bytes) -> Bool {
    guard let memory, index < memory.count else { return false }
    let position = FieldPosition.load(index, before: memory.positionsEnd)
    let bytes = memory.bytes + position.start
    guard position.nameCount == name.count, position.valueCount == value.count,
      Self.areEqual(bytes, name), Self.areEqual(bytes + position.nameCount, value)
    else { return false }
    index += 1
    return true
  }

  @inline(__always)
  private static func areEqual(_ bytes: UnsafePointer<UInt8>, _ other: Bytes) -> Bool {
    guard let start = other.baseAddress else { return true }
    return UnsafeRawPointer(bytes).equals(UnsafeRawPointer(start), count: other.count)
  }
}

extension UnsafeRawPointer {
  /// Compares bytes in the largest words that are not longer; the last may overlap the one before.
  @inline(__always)
  func equals(_ other: UnsafeRawPointer, count: Int) -> Bool {
    func isEqual<Word: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: Word.Type) -> Bool {
      loadUnaligned(fromByteOffset: offset, as: Word.self)
        == other.loadUnaligned(fromByteOffset: offset, as: Word.self)
    }
    let last = count - MemoryLayout<UInt64>.size
    guard last >= 0 else {
      if count >= 4 { return isEqual(0, UInt32.self) && isEqual(count - 4, UInt32.self) }
      if count >= 2 { return isEqual(0, UInt16.self) && isEqual(count - 2, UInt16.self) }
      return count <= 0 || isEqual(0, UInt8.self)
    }
    var offset = 0
    while offset < last, isEqual(offset, UInt64.self) { offset += MemoryLayout<UInt64>.size }
    return offset >= last && isEqual(last, UInt64.self)
  }
}

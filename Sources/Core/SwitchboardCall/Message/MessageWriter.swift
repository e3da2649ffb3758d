// unsafe: a message's memory, lent to its marshaller: each write is checked

/// The memory of one message while a marshaller fills it.
///
/// Bytes that do not fit are counted but not written, and then encoding fails.
@frozen
public struct MessageWriter: ~Copyable {
  @usableFromInline let memory: UnsafeMutableRawBufferPointer

  /// The number of bytes appended.
  package private(set) var byteCount = 0

  @usableFromInline
  init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

  /// The number of bytes announced.
  package var capacity: Int { memory.count }

  /// Appends one byte.
  public mutating func append(_ byte: UInt8) {
    if byteCount < memory.count { memory[byteCount] = byte }
    byteCount += 1
  }

  /// Appends a copy of `bytes`.
  public mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { append($0) }
  }

  /// Appends a copy of `bytes`.
  public mutating func append(contentsOf bytes: some Sequence<UInt8>) {
    if bytes.withContiguousStorageIfAvailable({ append(UnsafeRawBufferPointer($0)) }) == nil {
      for byte in bytes { append(byte) }
    }
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    if bytes.count <= memory.count - byteCount {
      UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...]).copyMemory(from: bytes)
    }
    byteCount += bytes.count
  }
}

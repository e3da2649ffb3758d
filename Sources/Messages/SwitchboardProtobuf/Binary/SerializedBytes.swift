// unsafe: owns such a list; copies into memory of the caller, whose size it checks

/// A message in binary, lent for one call. It may be in several pieces, so that none is copied twice.
public struct SerializedBytes: ~Copyable {
  // The first piece, and the following ones. This value frees those that belong neither to the message nor to the
  // caller, which both remain unchanged while this value exists.
  private let start: UnsafeMutableRawPointer
  private let count: Int
  private let following: OutputPieces

  init(start: UnsafeMutableRawPointer, count: Int, following: OutputPieces) {
    self.start = start
    self.count = count
    self.following = following
  }

  deinit { following.deallocate() }

  /// The size of the message in binary.
  public var byteCount: Int { count + following.byteCount }

  /// Appends the message to memory of the caller; throws if that is too small.
  public func append(to destination: inout OutputRawSpan) throws(EncodeError) {
    guard byteCount <= destination.freeCapacity else { throw EncodeError(.destinationTooSmall) }
    destination.withUnsafeMutableBytes { memory, initialized in
      if let memory = memory.baseAddress { copy(to: memory + initialized) }
      initialized += byteCount
    }
  }

  /// The message as an array.
  var array: [UInt8] {
    var bytes: [UInt8] = []
    // To append nothing would write to the storage that all empty arrays share.
    guard byteCount > 0 else { return bytes }
    // `Array(unsafeUninitializedCapacity:)` would look up the type of its buffer at run time.
    bytes.append(addingCapacity: byteCount) { span in
      span.withUnsafeMutableBufferPointer { buffer, count in
        if let memory = buffer.baseAddress { copy(to: UnsafeMutableRawPointer(memory)) }
        count = byteCount
      }
    }
    return bytes
  }

  /// Copies the message to memory that has room for it.
  private func copy(to destination: UnsafeMutableRawPointer) {
    destination.copyMemory(from: start, byteCount: count)
    following.copy(to: destination + count)
  }
}

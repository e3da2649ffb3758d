// unsafe: the cursor over bytes: each step is checked against the end

extension WireReader {
  /// Appends the varints in the next `length` bytes, which are in the buffer.
  @inlinable
  mutating func varints<Value>(
    _ length: Int,
    appendingTo values: inout [Value],
    value: (UInt64) -> Value
  ) throws(DecodeError) {
    let bytes = UnsafeRawBufferPointer(start: cursor, count: length)
    guard bytes.last ?? 0 < 0x80 else { throw DecodeError(.truncated) }
    // Each varint has exactly one byte without the continuation bit, so their number is known in advance.
    let count = WireReader.varints(in: bytes)
    // To append nothing would write to the storage that all empty arrays share.
    guard count > 0 else { return }

    var isWellFormed = true
    values.append(addingCapacity: count) { span in
      span.withUnsafeMutableBufferPointer { buffer, initialized in
        var next = cursor
        while initialized < count {
          var bits = UInt64(next.load(as: UInt8.self))
          next += 1
          if bits >= 0x80 {
            // Another byte follows that ends a varint, since the last of all does.
            let second = UInt64(next.load(as: UInt8.self))
            next += 1
            bits = bits & 0x7F | (second & 0x7F) &<< 7
            if second >= 0x80 {
              let third = UInt64(next.load(as: UInt8.self))
              next += 1
              bits |= (third & 0x7F) &<< 14
              if third >= 0x80 {
                guard let rest = WireReader.restOfVarint(bits, from: &next) else {
                  isWellFormed = false
                  return
                }
                bits = rest
              }
            }
          }
          buffer.initializeElement(at: initialized, to: value(bits))
          initialized += 1
        }
      }
    }
    guard isWellFormed else { throw DecodeError(.malformedVarint) }
    cursor += length
  }

  /// How many bytes have no continuation bit.
  @usableFromInline
  static func varints(in bytes: UnsafeRawBufferPointer) -> Int {
    guard let start = bytes.baseAddress else { return 0 }
    var (count, index) = (0, 0)
    while index &+ 8 <= bytes.count {
      let ends = ~start.loadUnaligned(fromByteOffset: index, as: UInt64.self) &>> 7 & 0x0101_0101_0101_0101
      // The product has the sum of all bytes in its highest one.
      count &+= Int(truncatingIfNeeded: (ends &* 0x0101_0101_0101_0101) &>> 56)
      index &+= 8
    }
    while index < bytes.count {
      count &+= Int((start.load(fromByteOffset: index, as: UInt8.self) ^ 0x80) &>> 7)
      index &+= 1
    }
    return count
  }

  /// Reads what follows the first three bytes of a varint, whose last byte is known to follow. Nil if the varint is longer
  /// than ten bytes.
  @inlinable @inline(__always)
  static func restOfVarint(_ start: UInt64, from next: inout UnsafeRawPointer) -> UInt64? {
    var bits = start
    var shift: UInt64 = 21
    while shift < 70 {
      let byte = UInt64(next.load(as: UInt8.self))
      next += 1
      bits |= (byte & 0x7F) &<< shift
      if byte < 0x80 { return bits }
      shift &+= 7
    }
    return nil
  }

  /// Appends the fixed-width numbers in the next `length` bytes, which are in the buffer.
  @inlinable
  mutating func fixed<Bits: FixedWidthInteger & BitwiseCopyable, Value>(
    _ length: Int,
    appendingTo values: inout [Value],
    value: (Bits) -> Value
  ) throws(DecodeError) {
    let width = MemoryLayout<Bits>.size
    guard length % width == 0 else { throw DecodeError(.truncated) }
    let count = length / width
    guard count > 0 else { return }
    values.append(addingCapacity: count) { span in
      span.withUnsafeMutableBufferPointer { buffer, initialized in
        while initialized < count {
          let bits = cursor.loadUnaligned(fromByteOffset: initialized * width, as: Bits.self)
          buffer.initializeElement(at: initialized, to: value(bits))
          initialized += 1
        }
      }
    }
    cursor += length
  }
}

// unsafe: the cursor over memory sized beforehand: each step is checked

// The implementation of `WireWriter`. These functions take the cursor and return its new value, so that it stays in a
// register for all fields of a message; in memory, each write would wait for the store of the previous one. They are
// global functions, because a static one would be called through a thunk that drops the metatype.
//
// If a value does not fit, they return a pointer beyond the end, after which nothing fits.

/// Writes a tag and a varint.
@usableFromInline
func writeVarint(
  _ value: UInt64,
  tag: EncodedTag,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  guard end - cursor >= 18 else { return writeShortVarint(value, tag: tag, at: cursor, end: end) }
  return storeVarint(value, at: storeTag(tag, at: cursor))
}

@inline(never)
private func writeShortVarint(
  _ value: UInt64,
  tag: EncodedTag,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  writeVarint(value, at: writeShortTag(tag, at: cursor, end: end), end: end)
}

/// Writes a varint.
@usableFromInline
func writeVarint(
  _ value: UInt64,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  // A varint takes at most ten bytes: only near the end does its exact size matter.
  guard end - cursor >= 10 || end - cursor >= WireWriter.size(ofVarint: value) else { return end + 1 }
  return storeVarint(value, at: cursor)
}

/// Stores a varint without checking the end.
@inlinable @inline(__always)
func storeVarint(_ value: UInt64, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
  var rest = value
  var next = address
  while rest >= 0x80 {
    next.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
    next += 1
    rest &>>= 7
  }
  next.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
  return next + 1
}

/// Stores a tag into eight free bytes; the next write overwrites those that the tag does not need.
@inlinable @inline(__always)
func storeTag(_ tag: EncodedTag, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
  address.storeBytes(of: tag.bytes.littleEndian, as: UInt64.self)
  return address + tag.count
}

/// Writes a tag byte by byte.
@usableFromInline @inline(never)
func writeShortTag(
  _ tag: EncodedTag,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  withUnsafeBytes(of: tag.bytes.littleEndian) {
    writeBytes(UnsafeRawBufferPointer(rebasing: $0.prefix(tag.count)), at: cursor, end: end)
  }
}

/// Writes a tag and a string with its length.
@usableFromInline
func writeString(
  _ value: String,
  tag: EncodedTag,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer,
  knowsSmallStrings: Bool
) -> UnsafeMutableRawPointer {
  // Most strings are short. Other strings are written in a separate function, so that this path needs few registers.
  guard knowsSmallStrings, let small = SmallString.words(of: value), end - cursor >= 32 else {
    return writeLongString(value, tag: tag, at: cursor, end: end)
  }
  // The longest tag, a length of one byte and both words of the string fit; the next write overwrites the excess.
  let start = storeTag(tag, at: cursor)
  start.storeBytes(of: UInt8(truncatingIfNeeded: small.count), as: UInt8.self)
  (start + 1).storeBytes(of: small.low, as: UInt64.self)
  (start + 9).storeBytes(of: small.high, as: UInt64.self)
  return start + 1 + small.count
}

@inline(never)
private func writeLongString(
  _ value: String,
  tag: EncodedTag,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  value.utf8.withContiguousStorageIfAvailable {
    writeText(UnsafeRawBufferPointer($0), tag: tag, at: cursor, end: end)
  } ?? Array(value.utf8).withUnsafeBytes { writeText($0, tag: tag, at: cursor, end: end) }
}

@inline(__always)
private func writeText(
  _ text: UnsafeRawBufferPointer,
  tag: EncodedTag,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  writeBytes(text, at: writeVarint(UInt64(text.count), tag: tag, at: cursor, end: end), end: end)
}

/// Writes bytes without a length.
@usableFromInline
func writeBytes(
  _ bytes: UnsafeRawBufferPointer,
  at cursor: UnsafeMutableRawPointer,
  end: UnsafeMutableRawPointer
) -> UnsafeMutableRawPointer {
  let count = bytes.count
  guard end - cursor >= count else { return end + 1 }
  guard let source = bytes.baseAddress else { return cursor }
  // Short strings are the most common values of all: two overlapping loads and stores are faster than a call.
  if count > 32 || count < 4 {
    cursor.copyMemory(from: source, byteCount: count)
  } else if count >= 16 {
    copyBothEnds(SIMD2<UInt64>.self, from: source, to: cursor, count: count)
  } else if count >= 8 {
    copyBothEnds(UInt64.self, from: source, to: cursor, count: count)
  } else {
    copyBothEnds(UInt32.self, from: source, to: cursor, count: count)
  }
  return cursor + count
}

/// Copies at least as many bytes as one `Word` holds and at most twice as many.
@inline(__always)
private func copyBothEnds<Word: BitwiseCopyable>(
  _ type: Word.Type,
  from source: UnsafeRawPointer,
  to destination: UnsafeMutableRawPointer,
  count: Int
) {
  let lastWord = count - MemoryLayout<Word>.size
  let last = source.loadUnaligned(fromByteOffset: lastWord, as: Word.self)
  destination.storeBytes(of: source.loadUnaligned(as: Word.self), as: Word.self)
  destination.storeBytes(of: last, toByteOffset: lastWord, as: Word.self)
}

extension WireWriter {
  /// The tag, the length and the UTF-8 of a string.
  @usableFromInline
  mutating func string(_ value: String, tag: EncodedTag) {
    self.tag(tag, varint: UInt64(value.utf8.count))
    string(value)
  }

  /// The UTF-8 of a string.
  @inlinable @inline(__always)
  mutating func string(_ value: String) {
    let utf8 = value.utf8
    let isContiguous: Void? = utf8.withContiguousStorageIfAvailable { raw(UnsafeRawBufferPointer($0)) }
    if isContiguous == nil { raw(Array(utf8)) }
  }
}

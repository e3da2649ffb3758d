/// Reads the binary format: tags, lengths, and the bounds of each field.
///
/// `BinaryDecoder+Fields.swift` reads the values.
public struct BinaryDecoder {
  @usableFromInline var reader: WireReader

  /// The tag of the current field.
  @usableFromInline var tag = Tag(number: 1, .varint)
  /// The start of the current field, including its tag; unknown fields are copied from here.
  @usableFromInline var fieldStart: UnsafeRawPointer
  /// Whether the value of the current field was decoded. If not, the field goes to the unknown fields.
  @usableFromInline var isTaken = true

  /// The number of the group being read, or 0 in a length-delimited message.
  @usableFromInline var openGroup: Int32 = 0
  @usableFromInline var depthLeft: Int
  /// Values that a closed enum does not define, encoded as fields, to be appended to the unknown fields.
  @usableFromInline var displaced: [UInt8] = []

  @usableFromInline let discardsUnknownFields: Bool
  @usableFromInline let extensions: ExtensionRegistry?

  @usableFromInline
  init(
    _ bytes: UnsafeRawBufferPointer,
    extensions: ExtensionRegistry?,
    options: BinaryDecodingOptions
  ) {
    reader = WireReader(bytes)
    fieldStart = reader.cursor
    depthLeft = options.messageDepthLimit
    discardsUnknownFields = options.discardUnknownFields
    self.extensions = extensions
  }

  /// Reads the tag of the next field of this message. Returns false at the end.
  @inlinable @inline(__always)
  mutating func nextField() throws(DecodeError) -> Bool {
    guard !reader.isAtEnd else {
      guard openGroup == 0 else { throw DecodeError(.truncated) }
      return false
    }
    fieldStart = reader.cursor
    tag = try reader.tag()
    guard !tag.has(.endGroup) else {
      try endGroup()
      return false
    }
    isTaken = false
    return true
  }

  /// Reads the next tag if it equals the tag of the current field.
  @usableFromInline
  mutating func entersSameField() -> Bool {
    let start = reader.cursor
    guard reader.skipsTag(tag) else { return false }
    fieldStart = start
    isTaken = false
    return true
  }

  /// Counts the consecutive length-delimited fields with this tag, up to a limit. The array of a repeated field
  /// reserves this capacity instead of growing step by step.
  @usableFromInline
  func elementsAhead() -> Int {
    var ahead = reader
    var count = 1
    while count < 64, ahead.skipsShortValue(), ahead.skipsTag(tag) { count += 1 }
    return count
  }

  @usableFromInline
  mutating func endGroup() throws(DecodeError) {
    guard tag.number == openGroup else { throw DecodeError(.mismatchedGroup) }
    openGroup = 0
  }

  /// Appends the current field, or the values that a closed enum rejected, to the unknown fields.
  @usableFromInline
  mutating func keep(in unknown: inout UnknownFields) throws(DecodeError) {
    if displaced.isEmpty {
      try skipValue()
      displace(from: fieldStart)
    }
    isTaken = true
    if !discardsUnknownFields { unknown.bytes += displaced }
    displaced = []
  }

  /// Sets aside the bytes from `start` to the cursor for the unknown fields.
  @usableFromInline
  mutating func displace(from start: UnsafeRawPointer) {
    displaced += UnsafeRawBufferPointer(start: start, count: reader.cursor - start)
    isTaken = false
  }

  /// Discards what was set aside for the current field: its bytes will be kept as part of a larger unknown field, or
  /// not at all.
  @usableFromInline
  mutating func takeDisplaced() {
    displaced = []
    isTaken = true
  }

  // MARK: Nesting

  /// The state to restore at the end of a nested message.
  @usableFromInline
  struct Outer {
    @usableFromInline let end: UnsafeRawPointer
    @usableFromInline let openGroup: Int32
    @usableFromInline let tag: Tag
  }

  /// Enters the length-delimited value of the current field.
  @usableFromInline
  mutating func enterMessage() throws(DecodeError) -> Outer {
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    let length = try reader.length()
    let outer = Outer(end: reader.end, openGroup: openGroup, tag: tag)
    reader.end = reader.cursor + length
    openGroup = 0
    depthLeft -= 1
    return outer
  }

  /// Enters the group that the current tag starts.
  @usableFromInline
  mutating func enterGroup() throws(DecodeError) -> Outer {
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    let outer = Outer(end: reader.end, openGroup: openGroup, tag: tag)
    openGroup = tag.number
    depthLeft -= 1
    return outer
  }

  /// Returns from ``enterMessage()`` or ``enterGroup()`` after the nested value was decoded.
  @usableFromInline
  mutating func leave(to outer: Outer) {
    reader.end = outer.end
    openGroup = outer.openGroup
    tag = outer.tag
    depthLeft += 1
    isTaken = true
  }

  // MARK: Skipping

  /// Skips the value of the current field.
  @usableFromInline
  mutating func skipValue() throws(DecodeError) {
    switch tag.wireType {
    case .varint: _ = try reader.varint()
    case .fixed64: try reader.skip(8)
    case .fixed32: try reader.skip(4)
    case .lengthDelimited: try reader.skip(try reader.length())
    case .startGroup: try skipGroup()
    case .endGroup: throw DecodeError(.mismatchedGroup)
    }
  }

  /// Skips a group and the groups in it, without recursion, because the input controls their depth.
  private mutating func skipGroup() throws(DecodeError) {
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    var open = [tag.number]
    while let innermost = open.last {
      let inner = try reader.tag()
      switch inner.wireType {
      case .varint: _ = try reader.varint()
      case .fixed64: try reader.skip(8)
      case .fixed32: try reader.skip(4)
      case .lengthDelimited: try reader.skip(try reader.length())
      case .startGroup:
        guard open.count < depthLeft else { throw DecodeError(.nestedTooDeep) }
        open.append(inner.number)
      case .endGroup:
        guard inner.number == innermost else { throw DecodeError(.mismatchedGroup) }
        open.removeLast()
      }
    }
  }
}

extension MessageFields {
  /// Reads fields until the end of the message or group and merges them into these.
  @inlinable
  public mutating func merge(from decoder: inout BinaryDecoder) throws(DecodeError) {
    while try decoder.nextField() {
      let number = decoder.tag.number
      do throws(DecodeError) {
        try decodeField(number, from: &decoder)
        if !decoder.isTaken { try decoder.keep(in: &unknownFields) }
      } catch {
        throw error.inside(Self.self, field: number)
      }
    }
  }
}

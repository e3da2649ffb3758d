/// Reads the binary format: tags and lengths, and where each field's bytes begin and end.
///
/// What it does with the value of a field is in `BinaryDecoder+Fields.swift`.
public struct BinaryDecoder {
  @usableFromInline var reader: WireReader

  /// The tag of the field that was entered last.
  @usableFromInline var tag = Tag(number: 1, .varint)
  /// Where the bytes of that field begin, its tag included; unknown fields are copied from here.
  @usableFromInline var fieldStart: UnsafeRawPointer
  /// Whether that field's value has found its place. If not, it goes to the unknown fields.
  @usableFromInline var isTaken = true

  /// The number of the group being read, or 0 in a message that ends with its bytes.
  @usableFromInline var openGroup: Int32 = 0
  @usableFromInline var depthLeft: Int
  /// Numbers that a closed enum does not have, as fields, on their way to the unknown fields.
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

  /// Enters the next field of the message being read. False at its end.
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

  /// Enters the next field if its tag is that of the field that was entered last.
  @usableFromInline
  mutating func entersSameField() -> Bool {
    let start = reader.cursor
    guard reader.skipsTag(tag) else { return false }
    fieldStart = start
    isTaken = false
    return true
  }

  /// How many length-delimited fields with this tag stand in a row from here, up to a limit: the elements of a repeated field,
  /// which get their room at once instead of by growing.
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

  /// Puts the field that was entered, or what a closed enum refused of it, into the unknown fields.
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

  /// Puts the bytes from `start` to the cursor aside for the unknown fields.
  @usableFromInline
  mutating func displace(from start: UnsafeRawPointer) {
    displaced += UnsafeRawBufferPointer(start: start, count: reader.cursor - start)
    isTaken = false
  }

  /// Forgets what was put aside of the field that was entered: it will be kept as a part of something larger, or not at all.
  @usableFromInline
  mutating func takeDisplaced() {
    displaced = []
    isTaken = true
  }

  // MARK: Nesting

  /// What the decoder goes back to at the end of a nested message.
  @usableFromInline
  struct Outer {
    @usableFromInline let end: UnsafeRawPointer
    @usableFromInline let openGroup: Int32
    @usableFromInline let tag: Tag
  }

  /// Goes into the length-delimited value of the field that was entered.
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

  /// Goes into the group whose start was entered.
  @usableFromInline
  mutating func enterGroup() throws(DecodeError) -> Outer {
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    let outer = Outer(end: reader.end, openGroup: openGroup, tag: tag)
    openGroup = tag.number
    depthLeft -= 1
    return outer
  }

  /// Comes back from ``enterMessage()`` or ``enterGroup()``; the nested value has been taken.
  @usableFromInline
  mutating func leave(to outer: Outer) {
    reader.end = outer.end
    openGroup = outer.openGroup
    tag = outer.tag
    depthLeft += 1
    isTaken = true
  }

  // MARK: Skipping

  /// Passes over the value of the field that was entered.
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

  /// Passes over a group and the groups in it, without recursion: the input decides how many there are.
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
  /// Reads fields up to the end of what `decoder` was given, merging them into these.
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

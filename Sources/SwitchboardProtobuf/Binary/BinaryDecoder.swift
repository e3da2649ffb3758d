/// Reads the binary format: tags and lengths, and where each field's bytes begin and end.
///
/// What it does with the value of a field is in `BinaryDecoder+Fields.swift`.
public struct BinaryDecoder {
  @usableFromInline var reader: WireReader

  /// The field that was entered last.
  @usableFromInline var number: Int32 = 0
  @usableFromInline var wireType = WireType.varint
  /// Where the bytes of that field begin, its tag included; unknown fields are copied from here.
  @usableFromInline var fieldStart: UnsafeRawPointer
  /// Whether a method of `FieldDecoder` has taken that field's value.
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

  /// Enters the next field of the message being read. Nil at its end.
  @usableFromInline
  mutating func nextField() throws(DecodeError) -> Int32? {
    guard !reader.isAtEnd else {
      guard openGroup == 0 else { throw DecodeError(.truncated) }
      return nil
    }
    fieldStart = reader.cursor
    (number, wireType) = try reader.tag()
    if wireType == .endGroup {
      guard number == openGroup else { throw DecodeError(.mismatchedGroup) }
      openGroup = 0
      return nil
    }
    isTaken = false
    return number
  }

  /// Leaves the field that was entered: what no method has taken goes to the unknown fields.
  @inlinable
  mutating func leaveField(_ unknown: inout UnknownFields) throws(DecodeError) {
    if !isTaken || !displaced.isEmpty { try keep(in: &unknown) }
  }

  @usableFromInline
  mutating func keep(in unknown: inout UnknownFields) throws(DecodeError) {
    if !isTaken {
      try skipValue()
      if !discardsUnknownFields {
        unknown.bytes += UnsafeRawBufferPointer(start: fieldStart, count: reader.cursor - fieldStart)
      }
    }
    if !discardsUnknownFields { unknown.bytes += displaced }
    displaced = []
  }

  // MARK: Nesting

  /// What the decoder goes back to at the end of a nested message.
  @usableFromInline
  struct Outer {
    @usableFromInline let end: UnsafeRawPointer
    @usableFromInline let openGroup: Int32
    @usableFromInline let number: Int32
  }

  /// Goes into the length-delimited value of the field that was entered.
  @usableFromInline
  mutating func enterMessage() throws(DecodeError) -> Outer {
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    let length = try reader.length()
    let outer = Outer(end: reader.end, openGroup: openGroup, number: number)
    reader.end = reader.cursor + length
    openGroup = 0
    depthLeft -= 1
    return outer
  }

  /// Goes into the group whose start was entered.
  @usableFromInline
  mutating func enterGroup() throws(DecodeError) -> Outer {
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    let outer = Outer(end: reader.end, openGroup: openGroup, number: number)
    openGroup = number
    depthLeft -= 1
    return outer
  }

  /// Comes back from ``enterMessage()`` or ``enterGroup()``; the nested value has been taken.
  @usableFromInline
  mutating func leave(to outer: Outer) {
    reader.end = outer.end
    openGroup = outer.openGroup
    number = outer.number
    depthLeft += 1
    isTaken = true
  }

  // MARK: Skipping

  /// Passes over the value of the field that was entered.
  @usableFromInline
  mutating func skipValue() throws(DecodeError) {
    isTaken = true
    switch wireType {
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
    var open = [number]
    while let innermost = open.last {
      let (number, type) = try reader.tag()
      switch type {
      case .varint: _ = try reader.varint()
      case .fixed64: try reader.skip(8)
      case .fixed32: try reader.skip(4)
      case .lengthDelimited: try reader.skip(try reader.length())
      case .startGroup:
        guard open.count < depthLeft else { throw DecodeError(.nestedTooDeep) }
        open.append(number)
      case .endGroup:
        guard number == innermost else { throw DecodeError(.mismatchedGroup) }
        open.removeLast()
      }
    }
  }
}

extension Message {
  /// Reads fields up to the end of what `decoder` was given, merging them into this message.
  @inlinable
  public mutating func merge(from decoder: inout BinaryDecoder) throws(DecodeError) {
    while let number = try decoder.nextField() {
      do throws(DecodeError) {
        try decodeField(number, from: &decoder)
        try decoder.leaveField(&unknownFields)
      } catch {
        throw error.inside(Self.fieldNames.name(of: number))
      }
    }
  }
}

/// The fields of an encoded message, one after the other.
///
/// The generator reads descriptors with this and not with the message runtime: no build is planned before the generator is
/// compiled, and the runtime takes longer to compile than all the rest of it.
struct EncodedFields {
  /// The value of a field whose type descriptors use.
  enum Value {
    case varint(UInt64)
    case bytes(ArraySlice<UInt8>)
    /// A number of fixed width or a group.
    case other
  }

  /// How deep messages, and groups, may be nested.
  private static let maximumDepth = 100

  private var rest: ArraySlice<UInt8>
  private let depth: Int

  /// Where the next field starts.
  var position: Int { rest.startIndex }

  /// The fields of a message within `depth` others.
  init(_ bytes: ArraySlice<UInt8>, depth: Int) throws(GeneratorError) {
    guard depth <= EncodedFields.maximumDepth else { throw GeneratorError("messages are nested too deep") }
    rest = bytes
    self.depth = depth
  }

  /// The next field; nil at the end. Not inlined, because otherwise all of this would be compiled for each message.
  @inline(never)
  mutating func next() throws(GeneratorError) -> EncodedField? {
    guard !rest.isEmpty else { return nil }
    let start = position
    let tag = try readTag()
    let value = try readValue(of: tag, depth: 0)
    return EncodedField(number: tag.number, value: value, start: start, depth: depth)
  }

  private typealias Tag = (number: UInt64, wireType: UInt64)

  private mutating func readTag() throws(GeneratorError) -> Tag {
    let tag = try readVarint()
    guard tag >> 3 > 0, tag >> 32 == 0 else { throw GeneratorError("a field has the number \(tag >> 3)") }
    return (tag >> 3, tag & 7)
  }

  private mutating func readValue(of tag: Tag, depth: Int) throws(GeneratorError) -> Value {
    switch tag.wireType {
    case 0: return .varint(try readVarint())
    case 1:
      _ = try take(8)
      return .other
    case 2: return .bytes(try take(try readVarint()))
    case 3:
      try skipGroup(tag.number, depth: depth)
      return .other
    case 5:
      _ = try take(4)
      return .other
    default: throw GeneratorError("a field has the wire type \(tag.wireType)")
    }
  }

  private mutating func skipGroup(_ number: UInt64, depth: Int) throws(GeneratorError) {
    guard depth < EncodedFields.maximumDepth else { throw GeneratorError("groups are nested too deep") }
    while true {
      let tag = try readTag()
      if tag.wireType == 4, tag.number == number { return }
      _ = try readValue(of: tag, depth: depth + 1)
    }
  }

  private mutating func take(_ count: UInt64) throws(GeneratorError) -> ArraySlice<UInt8> {
    guard count <= UInt64(rest.count) else { throw EncodedFields.truncated }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }

  private mutating func readVarint() throws(GeneratorError) -> UInt64 {
    guard let (value, end) = EncodedFields.varint(in: rest) else { throw EncodedFields.truncated }
    rest = rest[end...]
    return value
  }

  fileprivate static var truncated: GeneratorError {
    GeneratorError("it ends within a field, or a number is too long")
  }

  /// The number at the start of `bytes`, and where it ends.
  static func varint(in bytes: ArraySlice<UInt8>) -> (value: UInt64, end: Int)? {
    var value: UInt64 = 0
    var shift: UInt64 = 0
    for index in bytes.indices.prefix(10) {
      let byte = bytes[index]
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return (value, index + 1) }
      shift += 7
    }
    return nil
  }
}

/// A field of an encoded message. A value of another type than the message declares counts as an unknown field.
struct EncodedField {
  let number: UInt64
  let value: EncodedFields.Value
  /// Where its tag starts.
  let start: Int
  fileprivate let depth: Int

  /// The text of a field that is a string.
  var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  /// The bytes of a field that has a length.
  var bytes: ArraySlice<UInt8>? { if case .bytes(let bytes) = value { bytes } else { nil } }

  /// The value of a field that is an `int32` or an enum.
  var int32: Int32? { if case .varint(let value) = value { Int32(truncatingIfNeeded: value) } else { nil } }

  /// The value of a field that is a `bool`.
  var isTrue: Bool? { if case .varint(let value) = value { value != 0 } else { nil } }

  /// The values of a repeated field of numbers, of which this is one, or several that are packed.
  var numbers: [Int32] {
    get throws(GeneratorError) {
      guard var rest = bytes else { return int32.map { [$0] } ?? [] }
      var numbers: [Int32] = []
      while !rest.isEmpty {
        guard let (value, end) = EncodedFields.varint(in: rest) else { throw EncodedFields.truncated }
        numbers.append(Int32(truncatingIfNeeded: value))
        rest = rest[end...]
      }
      return numbers
    }
  }

  /// Merges a field that is a message into `message`.
  func merge(into message: inout some EncodedMessage) throws(GeneratorError) {
    if let bytes { try message.merge(bytes, depth: depth + 1) }
  }

  /// Adds an element of a repeated field of messages.
  func append<Element: EncodedMessage>(to elements: inout [Element]) throws(GeneratorError) {
    guard let bytes else { return }
    var element = Element()
    try element.merge(bytes, depth: depth + 1)
    elements.append(element)
  }
}

/// A message that is read from its fields.
protocol EncodedMessage {
  /// An empty message.
  init()
  /// Takes the value of a field; the caller ignores fields that the message does not use.
  mutating func merge(_ field: EncodedField) throws(GeneratorError)
}

extension EncodedMessage {
  /// Merges an encoded message into this one.
  mutating func merge(_ bytes: ArraySlice<UInt8>, depth: Int) throws(GeneratorError) {
    var fields = try EncodedFields(bytes, depth: depth)
    while let field = try fields.next() { try merge(field) }
  }
}

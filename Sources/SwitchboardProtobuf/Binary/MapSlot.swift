/// A Swift type of the keys or values of maps in a slot. It reads and writes every field type that is stored as this
/// Swift type.
///
/// Dictionaries are generic over these few types instead of all field types, so that the common combinations can be
/// specialized: unspecialized code looks up metadata for every entry. Numbers that are not keys are stored as their
/// bits, because a dictionary never inspects its values.
protocol MapSlot {
  /// The value of an entry without a value.
  static func initial(_ entry: TableEntry, of table: TableData) -> Self

  /// Reads a value after its tag. A message is merged into the entry's current value.
  static func read(
    _ type: FieldType,
    into value: inout Self,
    checksUTF8: Bool,
    from decoder: inout BinaryDecoder
  ) throws(DecodeError)

  /// Whether a field may have the value: a closed enum has only the numbers that it defines.
  static func accepts(_ value: Self, _ entry: TableEntry, of table: TableData) -> Bool

  /// Writes a field with the value, before what was written last.
  static func write(
    _ value: Self,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: inout ReverseCursor
  )
}

extension MapSlot {
  static func accepts(_ value: Self, _ entry: TableEntry, of table: TableData) -> Bool { true }
}

/// A ``MapSlot`` that may be a key.
protocol MapKeySlot: MapSlot, Hashable {
  /// The key of an entry without a key.
  static var emptyKey: Self { get }

  /// The order in which deterministic output sorts the entries.
  static func precedes(_ left: Self, _ right: Self) -> Bool
}

extension MapKeySlot {
  static func initial(_ entry: TableEntry, of table: TableData) -> Self { emptyKey }
}

extension MapKeySlot where Self: Comparable {
  static func precedes(_ left: Self, _ right: Self) -> Bool { left < right }
}

// MARK: Numbers

/// A number that is stored as its bits.
protocol NumberSlot: MapKeySlot, BitwiseCopyable {
  /// The value with these low bits.
  init(low bits: UInt64)
  /// The bits extended to 64; signed numbers are sign-extended.
  var extended: UInt64 { get }
}

extension NumberSlot {
  static var emptyKey: Self { Self(low: 0) }

  @inline(__always)
  static func read(
    _ type: FieldType,
    into value: inout Self,
    checksUTF8: Bool,
    from decoder: inout BinaryDecoder
  ) throws(DecodeError) {
    switch type {
    case .fixed32, .sfixed32, .float: value = Self(low: UInt64(try decoder.reader.fixed(UInt32.self)))
    case .fixed64, .sfixed64, .double: value = Self(low: try decoder.reader.fixed(UInt64.self))
    case .sint32:
      value = Self(low: UInt64(UInt32(bitPattern: ProtoSInt32.value(of: try decoder.reader.varint()))))
    case .sint64: value = Self(low: UInt64(bitPattern: ProtoSInt64.value(of: try decoder.reader.varint())))
    case .bool: value = Self(low: try decoder.reader.varint() == 0 ? 0 : 1)
    default: value = Self(low: try decoder.reader.varint())
    }
  }

  @inline(__always)
  static func write(
    _ value: Self,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: inout ReverseCursor
  ) {
    encoder.reserve(&cursor)
    let bits = value.extended
    let low = UInt32(truncatingIfNeeded: bits)
    switch type {
    case .fixed32, .sfixed32, .float: cursor.fixed(low)
    case .fixed64, .sfixed64, .double: cursor.fixed(bits)
    case .int32, .enumeration: cursor.varint(UInt64(bitPattern: Int64(Int32(bitPattern: low))))
    case .sint32: cursor.varint(ProtoSInt32.bits(of: Int32(bitPattern: low)))
    case .sint64: cursor.varint(ProtoSInt64.bits(of: Int64(bitPattern: bits)))
    default: cursor.varint(bits)
    }
    cursor.tag(EncodedTag(number, type.wireType))
  }
}

extension Int32: NumberSlot {
  init(low bits: UInt64) { self.init(truncatingIfNeeded: bits) }
  var extended: UInt64 { UInt64(bitPattern: Int64(self)) }
}

extension Int64: NumberSlot {
  init(low bits: UInt64) { self.init(bitPattern: bits) }
  var extended: UInt64 { UInt64(bitPattern: self) }
}

extension UInt32: NumberSlot {
  static func initial(_ entry: TableEntry, of table: TableData) -> UInt32 {
    UInt32(bitPattern: table.enumeration(of: entry)?.defaultNumber ?? 0)
  }

  static func accepts(_ value: UInt32, _ entry: TableEntry, of table: TableData) -> Bool {
    table.enumeration(of: entry)?.accepts(Int32(bitPattern: value)) ?? true
  }

  init(low bits: UInt64) { self.init(truncatingIfNeeded: bits) }
  var extended: UInt64 { UInt64(self) }
}

extension UInt64: NumberSlot {
  init(low bits: UInt64) { self = bits }
  var extended: UInt64 { self }
}

extension Bool: NumberSlot {
  init(low bits: UInt64) { self = bits != 0 }
  var extended: UInt64 { self ? 1 : 0 }
  static func precedes(_ left: Bool, _ right: Bool) -> Bool { !left && right }
}

// MARK: Strings, bytes and messages

extension String: MapKeySlot {
  static var emptyKey: String { "" }

  @inline(__always)
  static func read(
    _ type: FieldType,
    into value: inout String,
    checksUTF8: Bool,
    from decoder: inout BinaryDecoder
  ) throws(DecodeError) {
    value = try decoder.string(checksUTF8: checksUTF8)
  }

  @inline(__always)
  static func write(
    _ value: String,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: inout ReverseCursor
  ) {
    encoder.reserve(&cursor)
    // The cursor is not captured, so that it stays in a register.
    var words = unsafeBitCast(value, to: SmallString.Words.self)
    encoder.string(&words, EncodedTag(number, .lengthDelimited), isOptional: true, &cursor)
  }

  /// Sorts by bytes, as libprotobuf does.
  static func precedes(_ left: String, _ right: String) -> Bool {
    ProtoString.areInIncreasingOrder(left, right)
  }
}

extension [UInt8]: MapSlot {
  static func initial(_ entry: TableEntry, of table: TableData) -> [UInt8] { [] }

  static func read(
    _ type: FieldType,
    into value: inout [UInt8],
    checksUTF8: Bool,
    from decoder: inout BinaryDecoder
  ) throws(DecodeError) {
    value = try decoder.reader.bytes()
  }

  static func write(
    _ value: [UInt8],
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: inout ReverseCursor
  ) {
    let bytes = value.withUnsafeBytes { $0 }
    encoder.bytes(bytes, EncodedTag(number, .lengthDelimited), &cursor)
  }
}

extension MessageStorage: MapSlot {
  static func initial(_ entry: TableEntry, of table: TableData) -> MessageStorage {
    MessageStorage(table.message(of: entry))
  }

  static func read(
    _ type: FieldType,
    into value: inout MessageStorage,
    checksUTF8: Bool,
    from decoder: inout BinaryDecoder
  ) throws(DecodeError) {
    try decoder.content(of: &value)
  }

  static func write(
    _ value: MessageStorage,
    as type: FieldType,
    number: Int32,
    to encoder: inout BinaryEncoder,
    _ cursor: inout ReverseCursor
  ) {
    let tag = EncodedTag(number, .lengthDelimited)
    cursor = encoder.nested(value.object.slots, tag, cursor)
  }
}

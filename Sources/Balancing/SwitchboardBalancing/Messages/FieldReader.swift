// text: load reports, whose names are bounded when they are read

/// Reads the fields of a message in protobuf's wire format, one after the other.
///
/// Subchannels exchange three small messages with servers, below all marshallers. This module does not import the
/// message runtime, so it reads and writes these messages by hand.
struct FieldReader {
  /// A field's number and value.
  struct Field {
    let number: UInt64
    let value: Value
  }

  enum Value {
    case varint(UInt64)
    case fixed64(UInt64)
    case bytes(ArraySlice<UInt8>)
    case fixed32(UInt32)

    var double: Double? { if case .fixed64(let bits) = self { Double(bitPattern: bits) } else { nil } }
    var message: FieldReader? { if case .bytes(let bytes) = self { FieldReader(bytes) } else { nil } }
    var text: String? {
      if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }
  }

  private var rest: ArraySlice<UInt8>
  /// Whether invalid bytes were found.
  private(set) var isBroken = false

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  /// The next field; `nil` at the end and at invalid bytes. Groups count as invalid.
  mutating func next() -> Field? {
    guard !rest.isEmpty, !isBroken else { return nil }
    guard let tag = varint(), tag >> 3 > 0, let value = value(tag & 7) else {
      isBroken = true
      return nil
    }
    return Field(number: tag >> 3, value: value)
  }

  private mutating func value(_ wireType: UInt64) -> Value? {
    switch wireType {
    case 0: varint().map(Value.varint)
    case 1: fixed(8).map(Value.fixed64)
    case 2: bytes().map(Value.bytes)
    case 5: fixed(4).map { .fixed32(UInt32(truncatingIfNeeded: $0)) }
    default: nil
    }
  }

  private mutating func varint() -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 70, by: 7) {
      guard let byte = rest.popFirst() else { return nil }
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
    }
    return nil
  }

  private mutating func fixed(_ count: Int) -> UInt64? {
    guard rest.count >= count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  private mutating func bytes() -> ArraySlice<UInt8>? {
    guard let count = varint(), count <= UInt64(rest.count) else { return nil }
    defer { rest = rest.dropFirst(Int(count)) }
    return rest.prefix(Int(count))
  }
}

/// Writes fields in protobuf's wire format.
struct FieldWriter {
  private(set) var bytes: [UInt8] = []

  private mutating func varint(_ value: UInt64) {
    var value = value
    while value > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: value) | 0x80)
      value >>= 7
    }
    bytes.append(UInt8(value))
  }

  private mutating func fixed64(_ value: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> shift))
    }
  }

  mutating func add(_ number: UInt64, _ value: UInt64) {
    guard value != 0 else { return }
    varint(number << 3)
    varint(value)
  }

  mutating func add(_ number: UInt64, _ value: Double) {
    guard value != 0 else { return }
    varint(number << 3 | 1)
    fixed64(value.bitPattern)
  }

  mutating func add(_ number: UInt64, _ value: [UInt8]) {
    varint(number << 3 | 2)
    varint(UInt64(value.count))
    bytes += value
  }

  /// Adds a map of numbers, sorted by name.
  mutating func add(_ number: UInt64, _ values: [String: Double]) {
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      var entry = FieldWriter()
      entry.add(1, Array(name.utf8))
      entry.add(2, value)
      add(number, entry.bytes)
    }
  }
}

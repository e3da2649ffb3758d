import SwitchboardDescriptors

/// Bytes with many items for one field, in the arrangements that cost the most if a decoder does unnecessary work.
struct CostlyBytes {
  typealias Field = WireSchema.Field

  /// The arrangement of the items.
  enum Shape: CaseIterable {
    /// One after the other.
    case inRow
    /// With an unknown field between any two.
    case inTurns
    /// With another member of the same oneof between any two.
    case withSibling
    /// As one value that contains all of them: packed numbers, a long string, a message with many fields.
    case inOne
    /// With the wrong wire type, which makes them unknown.
    case misframed
    /// Each in the one before, for fields that can contain their own message.
    case inEachOther
  }

  let schema: WireSchema

  /// The bytes of a message with `count` items for `field`, or nil if the arrangement does not apply to the field.
  func bytes(_ count: Int, of field: Field, among fields: [Field], in shape: Shape) -> [UInt8]? {
    switch shape {
    case .inRow: (0..<count).flatMap { record(field, $0) }
    case .inTurns: (0..<count).flatMap { record(field, $0) + CostlyBytes.unknown($0) }
    case .withSibling:
      sibling(of: field, among: fields).map { other in
        (0..<count).flatMap { record(field, $0) + record(other, $0) }
      }
    case .inOne: inOne(field, count)
    case .misframed: (0..<count).flatMap { misframed(field, $0) }
    case .inEachOther: inEachOther(field, of: fields, count)
    }
  }

  // MARK: Shapes

  private func sibling(of field: Field, among fields: [Field]) -> Field? {
    guard field.hasOneofIndex, field.extendee.isEmpty else { return nil }
    return fields.first {
      $0.hasOneofIndex && $0.extendee.isEmpty && $0.oneofIndex == field.oneofIndex
        && $0.number != field.number
    }
  }

  private func inOne(_ field: Field, _ count: Int) -> [UInt8]? {
    switch field.type {
    case .message, .group:
      guard let type = schema.messages[field.typeName] else { return nil }
      let content = type.fields.flatMap { inner in
        (0..<max(1, count / type.fields.count)).flatMap { record(inner, $0) }
      }
      return framed(field, content + (0..<count).flatMap(CostlyBytes.unknown))
    case .string, .bytes: return framed(field, [UInt8](repeating: UInt8(ascii: "x"), count: 16 * count))
    default:
      guard field.label == .repeated else { return nil }
      return WireBytes.delimited(field.number, (0..<count).flatMap { number(field, $0) })
    }
  }

  private func misframed(_ field: Field, _ index: Int) -> [UInt8] {
    switch wireType(field) {
    case 0: WireBytes.tag(field.number, 5) + [1, 2, 3, 4]
    // A packable number may have either of two wire types; for other fields only one is right.
    default: WireBytes.tag(field.number, 0) + WireBytes.varint(UInt64(index))
    }
  }

  /// Messages that contain each other through the field, each with additional data.
  private func inEachOther(_ field: Field, of fields: [Field], _ count: Int) -> [UInt8]? {
    guard let circle = circle(from: field, backTo: fields) else { return nil }
    // A map's entry is a separate message, and an array counts in JSON. Twice the smaller depth is still allowed.
    let levels = circle.reduce(0) { $0 + ($1.label == .repeated ? 2 : 1) }
    var bytes: [UInt8] = []
    for round in 0..<(48 * count / CostCheck.items / levels) {
      for step in circle.reversed() { bytes = holding(step, bytes) + CostlyBytes.unknown(round) }
    }
    return bytes
  }

  /// The fields through which a message with `fields`, starting with `first`, contains one of its own type.
  private func circle(from first: Field, backTo fields: [Field]) -> [Field]? {
    var ways = [[first]]
    var seen: Set<String> = []
    while !ways.isEmpty {
      let way = ways.removeFirst()
      guard let last = way.last, let type = held(by: last), seen.insert(type).inserted else { continue }
      guard let inner = schema.messages[type]?.fields else { continue }
      if inner.contains(where: {
        $0.number == first.number && $0.name == first.name && $0.typeName == first.typeName
      }) {
        return way
      }
      ways += inner.map { way + [$0] }
    }
    return nil
  }

  /// The message type of a field or of a map's values.
  private func held(by field: Field) -> String? {
    guard let type = schema.messages[field.typeName] else { return nil }
    return type.isMapEntry ? type.fields.last?.typeName : field.typeName
  }

  // MARK: Fields

  /// The field with a message in it, or a map entry with that message.
  private func holding(_ field: Field, _ message: [UInt8]) -> [UInt8] {
    guard let type = schema.messages[field.typeName], type.isMapEntry, let key = type.fields.first,
      let value = type.fields.last
    else { return framed(field, message) }
    return framed(field, record(key, 1) + framed(value, message))
  }

  /// One item for a field.
  private func record(_ field: Field, _ index: Int) -> [UInt8] {
    switch field.type {
    case .message, .group: framed(field, content(of: field, index))
    case .string, .bytes: framed(field, Array("text of some length \(1000 + index)".utf8))
    default: WireBytes.tag(field.number, wireType(field)) + number(field, index)
    }
  }

  /// A field that makes a message grow when it is merged repeatedly.
  private func content(of field: Field, _ index: Int) -> [UInt8] {
    guard let type = schema.messages[field.typeName] else { return [] }
    if type.isMapEntry { return type.fields.flatMap { record($0, index) } }
    let growing = type.fields.filter { $0.label == .repeated }.prefix(3)
    return growing.flatMap { inner in
      schema.messages[inner.typeName].map { $0.isMapEntry ? record(inner, index) : framed(inner, []) }
        ?? record(inner, index)
    } + CostlyBytes.unknown(index)
  }

  private func framed(_ field: Field, _ content: [UInt8]) -> [UInt8] {
    guard field.type == .group else { return WireBytes.delimited(field.number, content) }
    return WireBytes.tag(field.number, 3) + content + WireBytes.tag(field.number, 4)
  }

  private func wireType(_ field: Field) -> UInt64 {
    switch field.type {
    case .double, .fixed64, .sfixed64: 1
    case .float, .fixed32, .sfixed32: 5
    case .string, .bytes, .message: 2
    case .group: 3
    case .int32, .int64, .uint32, .uint64, .sint32, .sint64, .bool, .enum: 0
    }
  }

  private func number(_ field: Field, _ index: Int) -> [UInt8] {
    switch wireType(field) {
    case 1: (0..<8).map { UInt8(truncatingIfNeeded: (1000 + index) >> (8 * $0)) }
    case 5: (0..<4).map { UInt8(truncatingIfNeeded: (1000 + index) >> (8 * $0)) }
    default:
      // Every second value of an enum is one that it does not define.
      WireBytes.varint(UInt64(field.type == .enum && index.isMultiple(of: 2) ? 1 : 1000 + index))
    }
  }

  // MARK: Bytes

  /// A field number that no message here has.
  static func unknown(_ index: Int) -> [UInt8] {
    WireBytes.tag(19_000, 0) + WireBytes.varint(UInt64(1000 + index))
  }
}

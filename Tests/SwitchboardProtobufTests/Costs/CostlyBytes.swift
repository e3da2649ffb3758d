import SwitchboardDescriptors

/// Bytes with many items for one field, in the shapes that cost the most where a decoder does more than it needs to.
struct CostlyBytes {
  typealias Field = WireSchema.Field

  /// How the items come.
  enum Shape: CaseIterable {
    /// One behind the other.
    case inRow
    /// With a field that nobody knows between any two.
    case inTurns
    /// With another member of the same oneof between any two.
    case withSibling
    /// As one value that has all of them: packed numbers, a long string, a message with many fields.
    case inOne
    /// With the wrong wire type, which makes them unknown.
    case misframed
    /// Each within the one before, for fields that can hold their own message.
    case inEachOther
  }

  let schema: WireSchema

  /// The bytes of a message with `count` items for `field`, or nil where the shape is none for the field.
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
    // A number that may be packed may come in either way; no other wire type than these two is right for any field.
    default: WireBytes.tag(field.number, 0) + WireBytes.varint(UInt64(index))
    }
  }

  /// Messages that hold each other by way of the field, each with something else beside.
  private func inEachOther(_ field: Field, of fields: [Field], _ count: Int) -> [UInt8]? {
    guard let circle = circle(from: field, backTo: fields) else { return nil }
    // A map's entry is a message of its own, and an array counts in JSON. Twice the smaller depth is still allowed.
    let levels = circle.reduce(0) { $0 + ($1.label == .repeated ? 2 : 1) }
    var bytes: [UInt8] = []
    for round in 0..<(48 * count / CostCheck.items / levels) {
      for step in circle.reversed() { bytes = holding(step, bytes) + CostlyBytes.unknown(round) }
    }
    return bytes
  }

  /// The fields by which a message with `fields`, first by way of `first`, holds one of its own kind.
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

  /// The type of message that a field, or a map's values, holds.
  private func held(by field: Field) -> String? {
    guard let type = schema.messages[field.typeName] else { return nil }
    return type.isMapEntry ? type.fields.last?.typeName : field.typeName
  }

  // MARK: Fields

  /// The field with a message in it, or an entry of a map with that message.
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

  /// Something for a message that grows when it is merged with more of the same.
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
      // Every other value of an enum is one that it does not have.
      WireBytes.varint(UInt64(field.type == .enum && index.isMultiple(of: 2) ? 1 : 1000 + index))
    }
  }

  // MARK: Bytes

  /// A number for a field that no message here has.
  static func unknown(_ index: Int) -> [UInt8] {
    WireBytes.tag(19_000, 0) + WireBytes.varint(UInt64(1000 + index))
  }
}

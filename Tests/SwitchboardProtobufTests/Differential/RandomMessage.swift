import SwitchboardDescriptors
import TestSupport

/// Generates bytes similar to a message: mostly valid fields, occasionally with the wrong wire type, unknown fields, or
/// boundary values.
struct RandomMessage {
  let schema: WireSchema
  var random: SeededGenerator
  /// Whether to avoid input that libprotobuf 3.21's JSON handles differently than later versions: it accepts invalid
  /// values of well-known types, and reads -0 as 0.
  var isForJSON = false

  /// The bytes of a message of the type `name`.
  mutating func bytes(of name: String, depth: Int = 0) -> [UInt8] {
    guard var type = schema.messages[name] else { return [] }
    if isForJSON { type.fields.removeAll(where: holdsWellKnownType) }
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...(depth > 3 ? 2 : 7), using: &random) {
      if type.fields.isEmpty || random.chance(8) {
        bytes += unknownField(depth)
      } else {
        bytes += field(random.pick(type.fields), in: type, depth)
      }
    }
    return bytes
  }

  /// The same, damaged as by a network or an attacker.
  mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    guard !bytes.isEmpty else { return [UInt8.random(in: 0...255, using: &random)] }
    let place = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: bytes.removeSubrange(place...)
    case 1: bytes[place] = UInt8.random(in: 0...255, using: &random)
    case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
    default: bytes.remove(at: place)
    }
    return bytes
  }

  private func holdsWellKnownType(_ field: WireSchema.Field) -> Bool {
    if field.typeName.hasPrefix(".google.protobuf.") { return true }
    guard let type = schema.messages[field.typeName], type.isMapEntry else { return false }
    return type.fields.contains(where: holdsWellKnownType)
  }

  private mutating func field(
    _ field: WireSchema.Field,
    in type: WireSchema.MessageType,
    _ depth: Int
  ) -> [UInt8] {
    if random.chance(6) { return wrongField(field.number, depth) }
    switch field.type {
    case .message, .group:
      // A nested message may have either of the two encodings; only one is the field's.
      let nested = bytes(of: field.typeName, depth: depth + 1)
      if field.type == .group {
        return WireBytes.tag(field.number, 3) + nested + WireBytes.tag(field.number, 4)
      }
      return WireBytes.tag(field.number, 2) + WireBytes.varint(UInt64(nested.count)) + nested
    case .string:
      let text = string(validOnly: !type.checksStrings)
      return WireBytes.tag(field.number, 2) + WireBytes.varint(UInt64(text.count)) + text
    case .bytes:
      let bytes = (0..<Int.random(in: 0...20, using: &random)).map { _ in
        UInt8.random(in: 0...255, using: &random)
      }
      return WireBytes.tag(field.number, 2) + WireBytes.varint(UInt64(bytes.count)) + bytes
    default:
      guard field.label == .repeated, random.chance(50) else {
        return WireBytes.tag(field.number, wireType(field.type)) + number(field, in: type)
      }
      let packed = (0..<Int.random(in: 0...5, using: &random)).flatMap { _ in number(field, in: type) }
      return WireBytes.tag(field.number, 2) + WireBytes.varint(UInt64(packed.count)) + packed
    }
  }

  private func wireType(_ type: Google_Protobuf_FieldDescriptorProto.TypeEnum) -> UInt64 {
    switch type {
    case .double, .fixed64, .sfixed64: 1
    case .float, .fixed32, .sfixed32: 5
    default: 0
    }
  }

  private mutating func number(_ field: WireSchema.Field, in type: WireSchema.MessageType) -> [UInt8] {
    let edges: [UInt64] = [
      0, 1, 127, 128, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 1 << 32, UInt64(Int64.max), 1 << 63, UInt64.max,
    ]
    var bits =
      random.chance(60) ? random.pick(edges) : random.next() >> UInt64.random(in: 0..<64, using: &random)
    if isForJSON, [.float, .double].contains(field.type) { bits &= 0x7FFF_FFFF_7FFF_FFFF }
    switch wireType(field.type) {
    case 1: return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    case 5: return (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    default:
      // A map entry with a number that a closed enum does not define is unknown as a whole, but not in libprotobuf's
      // dynamic messages.
      let isKnown = type.isMapEntry || random.chance(80)
      guard let numbers = schema.enumNumbers[field.typeName], isKnown else { return WireBytes.varint(bits) }
      return WireBytes.varint(UInt64(bitPattern: Int64(random.pick(numbers))))
    }
  }

  private mutating func string(validOnly: Bool) -> [UInt8] {
    if !validOnly, random.chance(3) { return [0xC3, 0x28] }
    let texts = ["", "a", "plain text of some length", "naïve café", "東京", "\u{0}\u{1F}\"\\", "😀"]
    return Array(random.pick(texts).utf8)
  }

  private mutating func wrongField(_ number: Int32, _ depth: Int) -> [UInt8] {
    switch Int.random(in: 0..<5, using: &random) {
    case 0: return WireBytes.tag(number, 0) + WireBytes.varint(random.next())
    case 1: return WireBytes.tag(number, 1) + [1, 2, 3, 4, 5, 6, 7, 8]
    case 2: return WireBytes.tag(number, 5) + [1, 2, 3, 4]
    case 3: return WireBytes.tag(number, 2) + [3, 8, 150, 1]
    default: return WireBytes.tag(number, 3) + unknownField(depth + 1) + WireBytes.tag(number, 4)
    }
  }

  private mutating func unknownField(_ depth: Int) -> [UInt8] {
    let number = random.pick([19_000, 54_321, 536_870_911, Int32.random(in: 1...300, using: &random)])
    return depth > 6 ? WireBytes.tag(number, 0) + [7] : wrongField(number, depth)
  }
}

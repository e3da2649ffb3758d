import SwitchboardProtobuf

/// `text.Color`, an open enum.
enum Color: SwitchboardProtobuf.Enum {
  case red
  case green
  case blue
  case below
  case unrecognized(Int)

  init() { self = .red }
  init?(rawValue: Int) { self = Self.allCases.first { $0.rawValue == rawValue } ?? .unrecognized(rawValue) }

  var rawValue: Int {
    switch self {
    case .red: 0
    case .green: 1
    case .blue: 2
    case .below: -1
    case .unrecognized(let number): number
    }
  }

  static let allCases: [Color] = [.red, .green, .blue, .below]
  static let protoEnumName = "text.Color"
  static let valueNames = EnumNames("0:RED 1:GREEN 2:BLUE -1:BELOW")
}

/// `text.Kinds`: a message of `proto3` with every kind of field.
struct Kinds: Message {
  indirect enum Choice: Hashable, Sendable {
    case first(Int32)
    case second(String)
    case third(Kinds)
  }

  var i32: Int32 = 0
  var i64: Int64 = 0
  var u32: UInt32 = 0
  var u64: UInt64 = 0
  var s32: Int32 = 0
  var s64: Int64 = 0
  var f32: UInt32 = 0
  var f64: UInt64 = 0
  var real: Float = 0
  var wide: Double = 0
  var flag = false
  var text = ""
  var data: [UInt8] = []
  var color = Color()
  var child = Boxed<Kinds?>(nil)
  var maybe: Int32?
  var numbers: [Int32] = []
  var texts: [String] = []
  var children: [Kinds] = []
  var counts: [String: Int32] = [:]
  var kids: [Int32: Kinds] = [:]
  var colors: [Bool: Color] = [:]
  var choice: Choice?
  var any: Google_Protobuf_Any?
  var reals: [Double] = []
  var flags: [Bool] = []
  var unknownFields = UnknownFields()

  static let protoMessageName = "text.Kinds"
  static let fieldNames = FieldNames(
    """
    0:old_field:older 1:i32 2:i64 3:u32 4:u64 5:s32 6:s64 7:f32 8:f64 9:real 10:wide 11:flag 12:text 13:data \
    14:color 15:child 16:maybe 17:numbers 18:texts 19:children 20:counts 21:kids 22:colors 23:first 24:second \
    25:third 26:any 27:reals 28:flags
    """
  )
}

extension Kinds {
  mutating func decodeField<D: FieldDecoder>(_ number: Int32, from decoder: inout D) throws(DecodeError) {
    switch number {
    case 1: try decoder.singular(&i32, as: ProtoInt32.self)
    case 2: try decoder.singular(&i64, as: ProtoInt64.self)
    case 3: try decoder.singular(&u32, as: ProtoUInt32.self)
    case 4: try decoder.singular(&u64, as: ProtoUInt64.self)
    case 5: try decoder.singular(&s32, as: ProtoSInt32.self)
    case 6: try decoder.singular(&s64, as: ProtoSInt64.self)
    case 7: try decoder.singular(&f32, as: ProtoFixed32.self)
    case 8: try decoder.singular(&f64, as: ProtoFixed64.self)
    case 9: try decoder.singular(&real, as: ProtoFloat.self)
    case 10: try decoder.singular(&wide, as: ProtoDouble.self)
    case 11: try decoder.singular(&flag, as: ProtoBool.self)
    case 12: try decoder.singular(&text, as: ProtoString.self)
    case 13: try decoder.singular(&data, as: ProtoBytes.self)
    case 14: try decoder.singular(&color, as: Color.self)
    case 15: try decoder.message(&child.value)
    case 16: try decoder.optional(&maybe, as: ProtoInt32.self)
    case 17: try decoder.repeated(&numbers, as: ProtoInt32.self)
    case 18: try decoder.repeated(&texts, as: ProtoString.self)
    case 19: try decoder.messages(&children)
    case 20: try decoder.map(&counts, key: ProtoString.self, value: ProtoInt32.self)
    case 21: try decoder.messageMap(&kids, key: ProtoInt32.self)
    case 22: try decoder.map(&colors, key: ProtoBool.self, value: Color.self)
    case 26: try decoder.message(&any)
    case 27: try decoder.repeated(&reals, as: ProtoDouble.self)
    case 28: try decoder.repeated(&flags, as: ProtoBool.self)
    default: try decodeChoice(number, from: &decoder)
    }
  }

  private mutating func decodeChoice<D: FieldDecoder>(
    _ number: Int32,
    from decoder: inout D
  ) throws(DecodeError) {
    let isSet = choice != nil
    switch number {
    case 23: if let new = try decoder.oneof(ProtoInt32.self, isSet: isSet) { choice = .first(new) }
    case 24: if let new = try decoder.oneof(ProtoString.self, isSet: isSet) { choice = .second(new) }
    case 25:
      var new: Kinds?
      if case .third(let current)? = choice { (new, choice) = (current, nil) }
      defer { if let new { choice = .third(new) } }
      try decoder.oneofMessage(&new, isSet: isSet)
    default: break
    }
  }

  func traverse<V: FieldVisitor>(_ visitor: inout V) throws(EncodeError) {
    try visitor.implicit(i32, as: ProtoInt32.self, number: 1)
    try visitor.implicit(i64, as: ProtoInt64.self, number: 2)
    try visitor.implicit(u32, as: ProtoUInt32.self, number: 3)
    try visitor.implicit(u64, as: ProtoUInt64.self, number: 4)
    try visitor.implicit(s32, as: ProtoSInt32.self, number: 5)
    try visitor.implicit(s64, as: ProtoSInt64.self, number: 6)
    try visitor.implicit(f32, as: ProtoFixed32.self, number: 7)
    try visitor.implicit(f64, as: ProtoFixed64.self, number: 8)
    try visitor.implicit(real, as: ProtoFloat.self, number: 9)
    try visitor.implicit(wide, as: ProtoDouble.self, number: 10)
    try visitor.implicit(flag, as: ProtoBool.self, number: 11)
    try visitor.implicit(text, as: ProtoString.self, number: 12)
    try visitor.implicit(data, as: ProtoBytes.self, number: 13)
    try visitor.implicit(color, as: Color.self, number: 14)
    try visitor.message(child.value, number: 15)
    try visitor.explicit(maybe, as: ProtoInt32.self, number: 16)
    try visitor.packed(numbers, as: ProtoInt32.self, number: 17)
    try visitor.repeated(texts, as: ProtoString.self, number: 18)
    try visitor.messages(children, number: 19)
    try visitor.map(counts, key: ProtoString.self, value: ProtoInt32.self, number: 20)
    try visitor.messageMap(kids, key: ProtoInt32.self, number: 21)
    try visitor.map(colors, key: ProtoBool.self, value: Color.self, number: 22)
    switch choice {
    case .first(let value)?: try visitor.explicit(value, as: ProtoInt32.self, number: 23)
    case .second(let value)?: try visitor.explicit(value, as: ProtoString.self, number: 24)
    case .third(let value)?: try visitor.message(value, number: 25)
    case nil: break
    }
    try visitor.message(any, number: 26)
    try visitor.packed(reals, as: ProtoDouble.self, number: 27)
    try visitor.packed(flags, as: ProtoBool.self, number: 28)
    try visitor.unknown(unknownFields)
  }
}

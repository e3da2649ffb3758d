import SwitchboardProtobuf

/// `text.Closed`, a closed enum.
enum Closed: Int, SwitchboardProtobuf.Enum {
  case one = 1
  case two = 2

  init() { self = .one }
  static let protoEnumName = "text.Closed"
  static let valueNames = EnumNames("1:ONE 2:TWO")
}

/// The messages of the groups in ``Legacy``, and `text.SetItem`: one number each.
protocol NumberMessage: Message {
  var a: Int32? { get set }
}

extension NumberMessage {
  mutating func decodeField<D: FieldDecoder>(_ number: Int32, from decoder: inout D) throws(DecodeError) {
    if number == 1 { try decoder.optional(&a, as: ProtoInt32.self) }
  }

  func traverse<V: FieldVisitor>(_ visitor: inout V) throws(EncodeError) {
    try visitor.explicit(a, as: ProtoInt32.self, number: 1)
    try visitor.unknown(unknownFields)
  }
}

struct GroupMessage: NumberMessage {
  var a: Int32?
  var unknownFields = UnknownFields()
  static let protoMessageName = "text.Legacy.Data"
  static let fieldNames = FieldNames("1:a")
}

struct SetItem: NumberMessage {
  var a: Int32?
  var unknownFields = UnknownFields()
  static let protoMessageName = "text.SetItem"
  static let fieldNames = FieldNames("1:a")
  static let item = MessageExtension<MessageSet, SubmessageExtension<SetItem>>(
    number: 1000,
    fullName: "text.SetItem.item"
  )
  static let outside = MessageExtension<MessageSet, SubmessageExtension<SetItem>>(
    number: 1001,
    fullName: "text.outside"
  )
}

/// `text.Set`
struct MessageSet: ExtensibleMessage {
  var extensionFields = ExtensionFields()
  var unknownFields = UnknownFields()
  static let protoMessageName = "text.Set"
  static let fieldNames = FieldNames("")

  mutating func decodeField<D: FieldDecoder>(_ number: Int32, from decoder: inout D) throws(DecodeError) {
    try decoder.messageSetField(number, of: Self.self, into: &extensionFields)
  }

  func traverse<V: FieldVisitor>(_ visitor: inout V) throws(EncodeError) {
    try visitor.messageSet(extensionFields)
    try visitor.unknown(unknownFields)
  }
}

/// `text.Legacy`: a message of `proto2`, with groups, a required field, a closed enum and extensions.
struct Legacy: ExtensibleMessage {
  var id: Int32?
  var data: GroupMessage?
  var multiWord: [GroupMessage] = []
  var closed: Closed?
  var text: String?
  var set: MessageSet?
  var extensionFields = ExtensionFields()
  var unknownFields = UnknownFields()

  static let protoMessageName = "text.Legacy"
  static let fieldNames = FieldNames("1:id 2:data::Data 3:multiword::MultiWord 4:closed 5:text 6:set")

  static let note = MessageExtension<Legacy, ScalarExtension<ProtoUncheckedString>>(
    number: 100,
    fullName: "text.note"
  )
  static let codes = MessageExtension<Legacy, RepeatedExtension<ProtoInt32>>(
    number: 101,
    fullName: "text.codes"
  )
  static let extra = MessageExtension<Legacy, GroupExtension<GroupMessage>>(
    number: 102,
    fullName: "text.extra"
  )
  static let nested = MessageExtension<Legacy, SubmessageExtension<Legacy>>(
    number: 103,
    fullName: "text.nested"
  )
  static let extensions: ExtensionRegistry = [note, codes, extra, nested, SetItem.item, SetItem.outside]

  var isInitialized: Bool { id != nil && extensionFields.isInitialized }

  mutating func decodeField<D: FieldDecoder>(_ number: Int32, from decoder: inout D) throws(DecodeError) {
    switch number {
    case 1: try decoder.optional(&id, as: ProtoInt32.self)
    case 2: try decoder.group(&data)
    case 3: try decoder.groups(&multiWord)
    case 4: try decoder.optional(&closed, as: Closed.self)
    case 5: try decoder.optional(&text, as: ProtoUncheckedString.self)
    case 6: try decoder.message(&set)
    case 100..<201: try decoder.extensionField(number, of: Self.self, into: &extensionFields)
    default: break
    }
  }

  func traverse<V: FieldVisitor>(_ visitor: inout V) throws(EncodeError) {
    try visitor.explicit(id, as: ProtoInt32.self, number: 1)
    try visitor.group(data, number: 2)
    try visitor.groups(multiWord, number: 3)
    try visitor.explicit(closed, as: Closed.self, number: 4)
    try visitor.explicit(text, as: ProtoUncheckedString.self, number: 5)
    try visitor.message(set, number: 6)
    try visitor.extensions(extensionFields, in: 100..<201)
    try visitor.unknown(unknownFields)
  }
}

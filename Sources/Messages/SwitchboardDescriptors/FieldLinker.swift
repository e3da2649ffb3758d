import SwitchboardProtobuf
import SwitchboardSchema
import SwitchboardText

/// Makes the schema of a field and resolves the types that it names.
struct FieldLinker {
  let pool: PoolBuilder.Declarations
  let file: String
  /// The full name of the scope in which the field is declared.
  let scope: String

  func error(_ field: Google_Protobuf_FieldDescriptorProto, _ text: String) -> DescriptorError {
    DescriptorError(file: file, "\(scope.isEmpty ? field.name : "\(scope).\(field.name)") \(text)")
  }

  /// Makes the schema of a field that inherits the features `inherited`. `oneofs` is the number of oneofs of its
  /// message.
  func schema(
    of field: Google_Protobuf_FieldDescriptorProto,
    features inherited: Features,
    oneofs: Int
  ) throws(DescriptorError) -> TableSchema.Field {
    // Extensions of a MessageSet, whose numbers are not in tags, may have any positive number.
    guard field.number > 0, field.number < 1 << 29 || extendsMessageSet(field) else {
      throw error(field, "has the number \(field.number), which is not valid")
    }
    let jsonName = field.jsonName.utf8
    guard jsonName.first != UInt8(ascii: "[") || jsonName.last != UInt8(ascii: "]") else {
      throw error(field, "has a JSON name in brackets, which only extensions have")
    }
    let features = inherited.with(field: field)
    var schema = TableSchema.Field(name: field.name, number: field.number, type: .int32)
    schema.jsonName = field.hasJsonName ? field.jsonName : FieldNames.lowerCamelCase(field.name)
    schema.isRepeated = field.label == .repeated
    schema.checksUTF8 = features.utf8Validation == .verify
    try addType(of: field, features, to: &schema)
    schema.isPacked = schema.isRepeated && features.repeatedEncoding == .packed
    schema.presence = presence(of: field, features, schema)
    if field.hasOneofIndex, !field.proto3Optional {
      guard !schema.isRepeated, 0..<oneofs ~= Int(field.oneofIndex) else {
        throw error(field, "cannot be a member of a oneof")
      }
      schema.oneof = Int(field.oneofIndex)
    }
    if field.hasDefaultValue, !schema.isRepeated {
      guard let value = DefaultValue.value(of: field.defaultValue, for: schema) else {
        let text = DescriptorError.shown(field.defaultValue)
        throw error(field, "has the default '\(text)', which is not a value of its type")
      }
      schema.defaultValue = value
    }
    return schema
  }

  private func extendsMessageSet(_ field: Google_Protobuf_FieldDescriptorProto) -> Bool {
    field.hasExtendee && message(named: field.extendee).map { pool.messages[$0].isMessageSet } ?? false
  }

  private func presence(
    of field: Google_Protobuf_FieldDescriptorProto,
    _ features: Features,
    _ schema: TableSchema.Field
  ) -> TableSchema.Field.Presence {
    if schema.isRepeated { return .implicit }
    switch features.presence {
    case .legacyRequired: return .required
    case .implicit: return field.hasExtendee ? .explicit : .implicit
    default: return .explicit
    }
  }

  // MARK: Types

  private func addType(
    of field: Google_Protobuf_FieldDescriptorProto,
    _ features: Features,
    to schema: inout TableSchema.Field
  ) throws(DescriptorError) {
    if field.hasType, let scalar = FieldLinker.scalars[field.type] {
      schema.type = scalar
      return
    }
    if !field.hasType || field.type == .enum, let type = enumeration(named: field.typeName) {
      schema.type = .enumeration
      schema.enumeration = type
      return
    }
    guard !field.hasType || field.type != .enum, let index = message(named: field.typeName) else {
      throw error(field, "has the type '\(DescriptorError.shown(field.typeName))', which is not declared")
    }
    let message = pool.messages[index]
    if message.isMapEntry, schema.isRepeated, !field.hasExtendee {
      try addMap(of: message, field, features, to: &schema)
      return
    }
    schema.message = index
    // Maps and their values are never delimited.
    let isInMap = pool.messagesByName[scope].map { pool.messages[$0].isMapEntry } ?? false
    schema.type = features.messageEncoding == .delimited && !isInMap ? .group : .message
    if schema.type == .group, FieldLinker.isGroup(field, message, in: scope, file: file) {
      schema.textName = message.descriptor.name
    }
  }

  /// A delimited field has the form of a group if its type has the same name and is declared in the same scope.
  private static func isGroup(
    _ field: Google_Protobuf_FieldDescriptorProto,
    _ message: PoolBuilder.Declared,
    in scope: String,
    file: String
  ) -> Bool {
    let name = message.descriptor.name
    return name.lowercased().isExactly(field.name) && message.file.isExactly(file)
      && message.fullName.isExactly(scope.isEmpty ? name : "\(scope).\(name)")
  }

  /// Turns a repeated field of map entries into a map.
  private func addMap(
    of entry: PoolBuilder.Declared,
    _ field: Google_Protobuf_FieldDescriptorProto,
    _ features: Features,
    to schema: inout TableSchema.Field
  ) throws(DescriptorError) {
    let fields = entry.descriptor.field
    guard fields.count == 2, let key = fields.first(where: { $0.number == 1 }),
      let value = fields.first(where: { $0.number == 2 }), key.label != .repeated, value.label != .repeated,
      let keyType = FieldLinker.scalars[key.type], keyType.isMapKey
    else { throw error(field, "is a map whose entries are malformed") }
    let linker = FieldLinker(pool: pool, file: entry.file, scope: entry.fullName)
    let valueSchema = try linker.schema(of: value, features: entry.features, oneofs: 0)
    schema.mapKey = keyType
    schema.type = valueSchema.type
    schema.message = valueSchema.message
    schema.enumeration = valueSchema.enumeration
    schema.checksUTF8 = valueSchema.checksUTF8
  }

  func message(named name: String) -> Int? { resolve(name) { pool.messagesByName[$0] } }

  private func enumeration(named name: String) -> EnumTable? { resolve(name) { pool.enumsByName[$0] } }

  /// Looks up a name. One with a leading dot is a full name; others are searched from the innermost scope outwards.
  private func resolve<Found>(_ name: String, _ find: (String) -> Found?) -> Found? {
    guard name.utf8.count <= DescriptorPool.longestName + 1 else { return nil }
    if name.utf8.first == UInt8(ascii: ".") {
      let name = String(Substring(name.utf8.dropFirst()))
      return name.isFullName ? find(name) : nil
    }
    guard name.isFullName else { return nil }
    // Compilers write full names. The limit bounds the work for others: a scope usually has few parts.
    var outer = scope.utf8[...]
    var scopesLeft = 16
    while !outer.isEmpty, scopesLeft > 0 {
      if let found = find("\(Substring(outer)).\(name)") { return found }
      outer = outer.lastIndex(of: UInt8(ascii: ".")).map { outer[..<$0] } ?? outer.prefix(0)
      scopesLeft -= 1
    }
    return find(name)
  }

  private static let scalars: [Google_Protobuf_FieldDescriptorProto.TypeEnum: FieldType] = [
    .double: .double, .float: .float, .int64: .int64, .uint64: .uint64, .int32: .int32, .fixed64: .fixed64,
    .fixed32: .fixed32, .bool: .bool, .string: .string, .bytes: .bytes, .uint32: .uint32,
    .sfixed32: .sfixed32, .sfixed64: .sfixed64, .sint32: .sint32, .sint64: .sint64,
  ]
}

import SwitchboardSchema
import SwitchboardText

/// Builds the schema of one field.
struct FieldBuilder {
  let schema: Schema
  let descriptor: FieldDescriptor
  /// The name of the field in errors.
  let user: String
  let path: [Int32]
  /// The file and the message that contain the field.
  let file: Int
  let parent: Int?
  var isExtension = false

  /// Builds the schema of the field, which inherits `features`.
  func build(features inherited: Features) throws(GeneratorError) -> FieldSchema {
    guard descriptor.name.isIdentifier else { throw error("'\(descriptor.name)' is not a valid field name") }
    // Those of extensions are in the ranges of the extended message, which were checked.
    guard descriptor.number > 0, isExtension || descriptor.number < 1 << 29 else {
      throw error("\(descriptor.number) is not a valid field number")
    }
    let features = inherited.with(field: descriptor.options.features, descriptor.legacyFeatures)
    let own = try type(features)
    let entry = mapEntry(own)
    let shape = if let entry { try mapShape(entry) } else { try self.shape(own, features) }
    let type = entry.map { schema.messages[$0].fields[1].type } ?? own
    let isGroup = isGroupLike(own)
    let typeName = own.messageName(in: schema)
    return FieldSchema(
      name: descriptor.name,
      number: descriptor.number,
      type: type,
      shape: shape,
      initial: try initial(type),
      jsonName: jsonName,
      textName: isGroup ? typeName : nil,
      isDeprecated: descriptor.options.deprecated,
      path: path,
      namingBase: isGroup ? typeName ?? descriptor.name : descriptor.name
    )
  }

  private func type(_ features: Features) throws(GeneratorError) -> FieldSchema.ValueType {
    guard let type = descriptor.type else { throw error("the field has no type") }
    if let scalar = Scalar(type, features) { return .scalar(scalar) }
    if type == .enum {
      return .enumeration(try schema.enumeration(named: descriptor.typeName ?? "", for: user))
    }
    guard let typeName = descriptor.typeName else { throw error("the field has no type") }
    let message = try schema.message(named: typeName, for: user)
    // Maps and their values are never delimited.
    let isInMap =
      schema.messages[message].isMapEntry || parent.map { schema.messages[$0].isMapEntry } ?? false
    return .message(message, isDelimited: features.messageEncoding == .delimited && !isInMap)
  }

  private func shape(
    _ type: FieldSchema.ValueType,
    _ features: Features
  ) throws(GeneratorError) -> FieldSchema.Shape {
    if descriptor.isRepeated {
      guard descriptor.oneofIndex == nil else { throw error("a member of a oneof cannot be repeated") }
      return .repeated(isPacked: features.repeatedEncoding == .packed && type.isPackable)
    }
    if let oneof = descriptor.oneofIndex, !descriptor.proto3Optional, !isExtension {
      let oneofs = parent.map { schema.messages[$0].descriptor.oneofDecl.count } ?? 0
      guard oneof >= 0, oneof < oneofs else { throw error("the message has no oneof \(oneof)") }
      return .oneof(Int(oneof))
    }
    if features.presence == .legacyRequired, !isExtension { return .required }
    if case .message = type { return .explicit }
    return features.presence == .implicit && !isExtension ? .implicit : .explicit
  }

  // MARK: Maps

  private func mapEntry(_ type: FieldSchema.ValueType) -> Int? {
    guard case .message(let index, _) = type, schema.messages[index].isMapEntry else { return nil }
    return index
  }

  private func mapShape(_ entry: Int) throws(GeneratorError) -> FieldSchema.Shape {
    let fields = schema.messages[entry].fields
    guard descriptor.isRepeated, !isExtension, fields.count == 2,
      fields[0].number == 1, fields[1].number == 2,
      case .scalar(let key) = fields[0].type, key.isMapKey
    else { throw error("the type of the field is a map entry, but the field is not a map") }
    return .map(key: key)
  }

  // MARK: Names and defaults

  private var jsonName: String? {
    guard !descriptor.jsonName.isEmpty else { return nil }
    return descriptor.jsonName == FieldBuilder.jsonName(for: descriptor.name) ? nil : descriptor.jsonName
  }

  /// The default JSON name of a field; the message runtime derives the same one.
  static func jsonName(for name: String) -> String {
    var result: [UInt8] = []
    var startsWord = false
    for byte in name.utf8 {
      if byte == UInt8(ascii: "_") {
        startsWord = true
      } else {
        result.append(startsWord ? byte.uppercased : byte)
        startsWord = false
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Whether the field is a group, or a delimited field with the form of one: its type has the same name and is
  /// declared in the same scope.
  private func isGroupLike(_ type: FieldSchema.ValueType) -> Bool {
    guard case .message(let index, isDelimited: true) = type else { return false }
    let message = schema.messages[index]
    return message.name.lowercased() == descriptor.name && message.parent == parent && message.file == file
  }

  private func initial(_ type: FieldSchema.ValueType) throws(GeneratorError) -> FieldSchema.Default {
    guard let text = descriptor.defaultValue, !descriptor.isRepeated else { return .initial }
    switch type {
    case .scalar(let scalar):
      guard let literal = DefaultLiteral.swift(for: text, of: scalar) else {
        throw error("'\(text)' is not a valid default for the type")
      }
      return .literal(literal)
    case .enumeration(let index):
      guard let value = schema.enums[index].values.first(where: { $0.name == text }) else {
        throw error("the enum \(schema.enums[index].fullName) has no value '\(text)'")
      }
      return schema.enums[index].swiftName(forNumber: value.number).map { .enumCase($0) } ?? .initial
    case .message: throw error("a message field cannot have a default")
    }
  }

  private func error(_ text: String) -> GeneratorError { GeneratorError("\(user): \(text)") }
}

extension FieldDescriptor {
  fileprivate var legacyFeatures: LegacyFeatures {
    var legacy = LegacyFeatures()
    legacy.isPacked = options.packed
    legacy.isRequired = isRequired
    legacy.isProto3Optional = proto3Optional
    legacy.isGroup = type == .group
    return legacy
  }
}

extension FieldSchema.ValueType {
  /// Whether repeated values may be packed.
  var isPackable: Bool {
    switch self {
    case .scalar(let scalar): scalar.isPackable
    case .enumeration: true
    case .message: false
    }
  }

  fileprivate func messageName(in schema: Schema) -> String? {
    if case .message(let index, _) = self { schema.messages[index].name } else { nil }
  }
}

extension EnumSchema {
  /// The name of the case for a number.
  func swiftName(forNumber number: Int32) -> String? {
    values.first { $0.number == number && !$0.isAlias }?.swiftName
  }
}

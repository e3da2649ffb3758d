import GoogleAPIMessages
import SwitchboardDescriptors

/// Messages and enums as JSON Schema.
extension DocumentWriter {
  /// The schema of a message or enum.
  mutating func schema(named name: String) -> JSONTree {
    if name == Self.errorName { return Self.error }
    if let known = Self.wellKnown(name) { return known }
    if let type = types.enums[name] {
      let values = type.descriptor.value.map { JSONTree.string($0.name) }
      let schema: JSONTree = ["type": "string", "enum": .array(values)]
      return described(
        schema,
        comments[type.file].text(type.path),
        isDeprecated: type.descriptor.options.deprecated
      )
    }
    guard let type = types.messages[name] else { return [:] }
    var properties: [JSONTree.Member] = []
    var required: [JSONTree] = []
    for (index, field) in type.descriptor.field.enumerated() {
      let behaviors = field.options.Google_Api_fieldBehavior
      let name = jsonName(field)
      if behaviors.contains(.required) || field.label == .required { required.append(.string(name)) }
      let schema = self.schema(of: field).adding([
        "readOnly": behaviors.contains(.outputOnly) ? true : nil,
        "writeOnly": behaviors.contains(.inputOnly) ? true : nil,
      ])
      let comment = comments[type.file].text(type.path + [2, Int32(index)])
      properties.append(
        .init(name: name, value: described(schema, comment, isDeprecated: field.options.deprecated, field))
      )
    }
    let schema: JSONTree = ["type": "object"]
    return described(
      schema.adding([
        "properties": properties.isEmpty ? nil : .object(properties),
        "required": required.isEmpty ? nil : .array(required),
      ]),
      comments[type.file].text(type.path),
      isDeprecated: type.descriptor.options.deprecated
    )
  }

  func jsonName(_ field: Google_Protobuf_FieldDescriptorProto) -> String {
    options.usesProtoFieldNames || field.jsonName.isEmpty ? field.name : field.jsonName
  }

  private func described(
    _ schema: JSONTree,
    _ comment: FileComments.Comment?,
    isDeprecated: Bool,
    _ field: Google_Protobuf_FieldDescriptorProto? = nil
  ) -> JSONTree {
    let examples = (comment?.examples ?? []).map { example($0, field) }
    return schema.adding([
      "description": comment.flatMap { $0.text.isEmpty ? nil : .string($0.text) },
      "deprecated": isDeprecated ? true : nil,
      "examples": examples.isEmpty ? nil : .array(examples),
    ])
  }

  /// An example as a JSON value: a number, `true` or `false` if the field's type is written so, a string otherwise.
  private func example(_ text: String, _ field: Google_Protobuf_FieldDescriptorProto?) -> JSONTree {
    let text =
      text.hasPrefix("\"") && text.hasSuffix("\"") && text.utf8.count > 1
      ? String(text.dropFirst().dropLast()) : text
    switch field?.type {
    case .bool? where text == "true" || text == "false": return .bool(text == "true")
    case .int32?, .sint32?, .uint32?, .fixed32?, .sfixed32?:
      if let number = Int(text) { return .number(number) }
    case .double?, .float?: if let number = Double(text), number.isFinite { return .verbatim("\(number)") }
    default: break
    }
    return .string(text)
  }

  // MARK: Fields

  /// The schema of a field's value.
  mutating func schema(of field: Google_Protobuf_FieldDescriptorProto) -> JSONTree {
    guard field.label == .repeated else { return schemaOfOne(field) }
    guard let entry = types.message(of: field)?.descriptor, entry.options.mapEntry, entry.field.count == 2
    else {
      return ["type": "array", "items": schemaOfOne(field)]
    }
    return ["type": "object", "additionalProperties": schemaOfOne(entry.field[1])]
  }

  mutating func schemaOfOne(_ field: Google_Protobuf_FieldDescriptorProto) -> JSONTree {
    switch field.type {
    case .int32, .sint32, .sfixed32: return ["type": "integer", "format": "int32"]
    case .uint32, .fixed32: return ["type": "integer", "format": "uint32", "minimum": .number(0)]
    case .int64, .sint64, .sfixed64: return ["type": "string", "format": "int64"]
    case .uint64, .fixed64: return ["type": "string", "format": "uint64"]
    case .float: return ["type": "number", "format": "float"]
    case .double: return ["type": "number", "format": "double"]
    case .bool: return ["type": "boolean"]
    case .bytes: return ["type": "string", "contentEncoding": "base64"]
    case .enum where DeclaredTypes.name(field.typeName) == "google.protobuf.NullValue":
      return ["type": "null"]
    case .enum, .message, .group:
      let name = DeclaredTypes.name(field.typeName)
      return Self.wellKnown(name) ?? reference(name)
    default: return ["type": "string"]
    }
  }

  /// The schema of a well-known type with a special JSON form.
  static func wellKnown(_ name: String) -> JSONTree? {
    guard name.hasPrefix("google.protobuf.") else {
      return name == "google.api.HttpBody" ? ["type": "string", "contentEncoding": "base64"] : nil
    }
    switch name.dropFirst("google.protobuf.".count) {
    case "Timestamp": return ["type": "string", "format": "date-time"]
    case "Duration": return ["type": "string", "pattern": "^-?[0-9]+(\\.[0-9]{1,9})?s$"]
    case "FieldMask": return ["type": "string"]
    case "Struct": return ["type": "object", "additionalProperties": true]
    case "Value": return [:]
    case "ListValue": return ["type": "array", "items": [:]]
    case "Empty": return ["type": "object"]
    case "Any":
      return [
        "type": "object", "properties": ["@type": ["type": "string"]], "required": ["@type"],
        "additionalProperties": true,
      ]
    case "StringValue": return ["type": ["string", "null"]]
    case "BytesValue": return ["type": ["string", "null"], "contentEncoding": "base64"]
    case "BoolValue": return ["type": ["boolean", "null"]]
    case "Int32Value": return ["type": ["integer", "null"], "format": "int32"]
    case "UInt32Value": return ["type": ["integer", "null"], "format": "uint32"]
    case "Int64Value": return ["type": ["string", "null"], "format": "int64"]
    case "UInt64Value": return ["type": ["string", "null"], "format": "uint64"]
    case "FloatValue": return ["type": ["number", "null"], "format": "float"]
    case "DoubleValue": return ["type": ["number", "null"], "format": "double"]
    default: return nil
    }
  }
}

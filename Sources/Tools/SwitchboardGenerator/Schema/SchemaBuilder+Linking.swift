import SwitchboardSchema

// The second pass: fields, oneofs and extensions, with the types that they refer to.
extension SchemaBuilder {
  /// Adds declarations that refer to types.
  mutating func link() throws(GeneratorError) {
    // Map entries first: a map field takes its key and value types from its entry.
    for index in schema.messages.indices where schema.messages[index].isMapEntry { try linkFields(of: index) }
    for index in schema.messages.indices where !schema.messages[index].isMapEntry {
      try linkRanges(of: index)
      try linkOneofs(of: index)
      try linkFields(of: index)
      MemberNames.assign(to: &schema.messages[index])
    }
    for index in schema.messages.indices {
      let message = schema.messages[index]
      let scope = ExtensionScope(
        file: message.file,
        message: index,
        prefix: message.fullName,
        path: message.path + [6],
        features: message.features
      )
      schema.messages[index].extensions = try extensions(message.descriptor.extension, in: scope)
    }
    for index in schema.files.indices {
      let file = schema.files[index]
      let scope = ExtensionScope(
        file: index,
        message: nil,
        prefix: file.package,
        path: [7],
        features: file.features
      )
      schema.files[index].extensions = try extensions(file.descriptor.extension, in: scope)
    }
  }

  private mutating func linkRanges(of index: Int) throws(GeneratorError) {
    var ranges: [Range<Int32>] = []
    // The numbers of extensions of a MessageSet are not in tags.
    let end: Int32 = schema.messages[index].isMessageSet ? .max : 1 << 29
    for range in schema.messages[index].descriptor.extensionRange {
      guard range.start > 0, range.start < range.end, range.end <= end else {
        throw GeneratorError("\(schema.messages[index].fullName): an extension range is out of bounds")
      }
      ranges.append(range.start..<range.end)
    }
    schema.messages[index].extensionRanges = ranges.sorted { $0.lowerBound < $1.lowerBound }
  }

  private mutating func linkOneofs(of index: Int) throws(GeneratorError) {
    let message = schema.messages[index]
    for (position, oneof) in message.descriptor.oneofDecl.enumerated() {
      guard oneof.name.isIdentifier else {
        throw GeneratorError("\(message.fullName): '\(oneof.name)' is not a valid oneof name")
      }
      schema.messages[index].oneofs.append(
        OneofSchema(
          name: oneof.name,
          path: message.path + [8, Int32(position)],
          names: PropertyNames(base: oneof.name)
        )
      )
    }
  }

  private mutating func linkFields(of index: Int) throws(GeneratorError) {
    let message = schema.messages[index]
    guard !message.isMessageSet || message.descriptor.field.isEmpty else {
      throw GeneratorError(
        "\(message.fullName): a message with the MessageSet wire format cannot have fields"
      )
    }
    var numbers: Set<Int32> = []
    // Collected in an array first: changing the schema while a builder holds a copy would copy all of it.
    var fields: [FieldSchema] = []
    for (position, descriptor) in message.descriptor.field.enumerated() {
      let builder = FieldBuilder(
        schema: schema,
        descriptor: descriptor,
        user: "\(message.fullName).\(descriptor.name)",
        path: message.path + [2, Int32(position)],
        file: message.file,
        parent: index
      )
      let field = try builder.build(features: features(of: descriptor, in: message))
      guard numbers.insert(field.number).inserted else {
        throw GeneratorError("\(builder.user): another field has the number \(field.number)")
      }
      fields.append(field)
    }
    try SchemaBuilder.checkJSONNames(of: fields, in: message)
    for (position, field) in fields.enumerated() {
      if let oneof = field.oneof { schema.messages[index].oneofs[oneof].members.append(position) }
    }
    schema.messages[index].fields = fields
  }

  /// Refuses a `json_name` that another field has too: one of the two would be lost in JSON. Two names that are equal without
  /// it are an error of the compiler's, except in proto2, which has always allowed them.
  private static func checkJSONNames(
    of fields: [FieldSchema],
    in message: MessageSchema
  ) throws(GeneratorError) {
    var known: [String: FieldSchema] = [:]
    for field in fields {
      let name = field.jsonName ?? FieldBuilder.jsonName(for: field.name)
      guard let other = known.updateValue(field, forKey: name) else { continue }
      guard field.jsonName != nil || other.jsonName != nil else { continue }
      throw GeneratorError(
        "\(message.fullName).\(field.name): the field '\(other.name)' has the JSON name '\(name)' too"
      )
    }
  }

  /// The features that a field inherits from its oneof or message.
  private func features(of field: FieldDescriptor, in message: MessageSchema) -> Features {
    guard let index = field.oneofIndex, message.descriptor.oneofDecl.indices.contains(Int(index)) else {
      return message.features
    }
    return message.features.with(message.descriptor.oneofDecl[Int(index)].options.features)
  }

  // MARK: Extensions

  private struct ExtensionScope {
    let file: Int
    let message: Int?
    let prefix: String
    let path: [Int32]
    let features: Features
  }

  private func extensions(
    _ descriptors: [FieldDescriptor],
    in scope: ExtensionScope
  ) throws(GeneratorError) -> [ExtensionSchema] {
    var extensions: [ExtensionSchema] = []
    for (position, descriptor) in descriptors.enumerated() {
      let fullName = scope.prefix.isEmpty ? descriptor.name : "\(scope.prefix).\(descriptor.name)"
      let extended = try schema.message(named: descriptor.extendee, for: fullName)
      let (target, ranges) = (schema.messages[extended].fullName, schema.messages[extended].extensionRanges)
      guard !ranges.isEmpty else { throw GeneratorError("\(fullName): '\(target)' has no extension range") }
      let builder = FieldBuilder(
        schema: schema,
        descriptor: descriptor,
        user: fullName,
        path: scope.path + [Int32(position)],
        file: scope.file,
        parent: scope.message,
        isExtension: true
      )
      let field = try builder.build(features: scope.features)
      guard ranges.contains(where: { $0.contains(field.number) }) else {
        throw GeneratorError("\(fullName): '\(target)' does not leave \(field.number) to extensions")
      }
      guard !schema.messages[extended].isMessageSet || field.isSingleMessage && !descriptor.isRequired else {
        throw GeneratorError("\(fullName): extensions of '\(target)' must be optional messages")
      }
      extensions.append(
        ExtensionSchema(fullName: fullName, extended: extended, scope: scope.message, field: field)
      )
    }
    return extensions
  }
}

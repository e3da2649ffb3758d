import SwitchboardSchema

/// Builds the schema of a request in three passes: it declares all types, so that any type can refer to any other, then
/// adds the declarations that refer to them, then computes properties that depend on the whole.
struct SchemaBuilder {
  var schema = Schema()
  let mappings: ModuleMappings

  /// The schema of `files`, linked and with Swift names. Top-level types do not have names in `reserved`.
  static func build(
    _ files: [FileDescriptor],
    mappings: ModuleMappings,
    reserved: Set<String>
  ) throws(GeneratorError) -> Schema {
    var builder = SchemaBuilder(mappings: mappings)
    for file in files { try builder.declare(file) }
    try builder.link()
    try FieldSlots.assign(to: &builder.schema)
    InitializationNeeds.decide(for: &builder.schema)
    TypeNamer.assign(to: &builder.schema, reserved: reserved)
    try addServices(to: &builder.schema)
    return builder.schema
  }

  private init(mappings: ModuleMappings) { self.mappings = mappings }

  // MARK: Declaring

  private mutating func declare(_ file: FileDescriptor) throws(GeneratorError) {
    guard !file.name.isEmpty, file.name.utf8.allSatisfy({ $0 >= 0x20 }) else {
      throw GeneratorError("the name of a file is empty or contains control characters")
    }
    let index = schema.files.count
    guard schema.filesByName.updateValue(index, forKey: file.name) == nil else {
      throw GeneratorError("\(file.name): the file is in the request twice")
    }
    try SchemaBuilder.check(package: file.package, of: file.name)
    let features = try SchemaBuilder.features(of: file).with(file.options.features)
    let declared = FileSchema(
      name: file.name,
      package: file.package,
      prefix: try TypeNames.prefix(of: file),
      module: mappings.module(of: file.name),
      features: features,
      descriptor: file
    )
    schema.files.append(declared)

    let scope = Scope(file: index, parent: nil, prefix: file.package, features: features)
    let first = schema.messages.count
    schema.files[index].messages = try declare(file.messageType, at: [4], in: scope)
    schema.files[index].allMessages = first..<schema.messages.count
    schema.files[index].enums = try declare(file.enumType, at: [5], in: scope)
  }

  private static func features(
    of file: FileDescriptor
  ) throws(GeneratorError) -> Features {
    do throws(UnsupportedSyntax) {
      return try Features.defaults(syntax: file.syntax, edition: file.edition)
    } catch {
      throw GeneratorError("\(file.name): \(error)")
    }
  }

  private static func check(package: String, of file: String) throws(GeneratorError) {
    let parts = package.split(separator: ".", omittingEmptySubsequences: false)
    guard package.isEmpty || parts.allSatisfy(\.isIdentifier) else {
      throw GeneratorError("\(file): '\(package)' is not a valid package")
    }
  }

  /// The scope of a type declaration: a file or a message.
  private struct Scope {
    let file: Int
    let parent: Int?
    let prefix: String
    let features: Features

    func fullName(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix).\(name)" }
  }

  private mutating func declare(
    _ descriptors: [MessageDescriptor],
    at path: [Int32],
    in scope: Scope
  ) throws(GeneratorError) -> [Int] {
    var indexes: [Int] = []
    for (position, descriptor) in descriptors.enumerated() {
      indexes.append(try declare(descriptor, at: path + [Int32(position)], in: scope))
    }
    return indexes
  }

  private mutating func declare(
    _ descriptor: MessageDescriptor,
    at path: [Int32],
    in scope: Scope
  ) throws(GeneratorError) -> Int {
    let index = schema.messages.count
    let fullName = scope.fullName(descriptor.name)
    try addSymbol(.message(index), named: descriptor.name, fullName: fullName)
    let options = descriptor.options
    let features = scope.features.with(options.features)
    schema.messages.append(
      MessageSchema(
        name: descriptor.name,
        fullName: fullName,
        file: scope.file,
        parent: scope.parent,
        path: path,
        descriptor: descriptor,
        features: features,
        isMapEntry: options.mapEntry,
        isMessageSet: options.messageSetWireFormat,
        isDeprecated: options.deprecated
      )
    )
    let inner = Scope(file: scope.file, parent: index, prefix: fullName, features: features)
    let nested = try declare(descriptor.nestedType, at: path + [3], in: inner)
    schema.messages[index].nestedMessages = nested
    schema.messages[index].nestedEnums = try declare(descriptor.enumType, at: path + [4], in: inner)
    return index
  }

  private mutating func declare(
    _ descriptors: [EnumDescriptor],
    at path: [Int32],
    in scope: Scope
  ) throws(GeneratorError) -> [Int] {
    var indexes: [Int] = []
    for (position, descriptor) in descriptors.enumerated() {
      let index = schema.enums.count
      let fullName = scope.fullName(descriptor.name)
      try addSymbol(.enumeration(index), named: descriptor.name, fullName: fullName)
      let path = path + [Int32(position)]
      let options = descriptor.options
      let features = scope.features.with(options.features)
      schema.enums.append(
        EnumSchema(
          name: descriptor.name,
          fullName: fullName,
          file: scope.file,
          parent: scope.parent,
          path: path,
          isOpen: features.enumType == .open,
          isDeprecated: options.deprecated,
          values: try EnumValueSchema.values(of: descriptor, fullName: fullName, at: path)
        )
      )
      indexes.append(index)
    }
    return indexes
  }

  private mutating func addSymbol(
    _ symbol: Schema.Symbol,
    named name: String,
    fullName: String
  ) throws(GeneratorError) {
    guard name.isIdentifier else { throw GeneratorError("'\(fullName)' is not a valid type name") }
    guard schema.symbols.updateValue(symbol, forKey: fullName) == nil else {
      throw GeneratorError("the type '\(fullName)' is in the request twice")
    }
  }
}

extension EnumValueSchema {
  /// The values of an enum, with their Swift names.
  static func values(
    of descriptor: EnumDescriptor,
    fullName: String,
    at path: [Int32]
  ) throws(GeneratorError) -> [EnumValueSchema] {
    guard !descriptor.value.isEmpty else { throw GeneratorError("the enum '\(fullName)' has no values") }
    let plain = descriptor.value.map { (name: $0.name, number: $0.number) }
    guard let wrong = plain.first(where: { !$0.name.isIdentifier }) else {
      let names = EnumCaseNames.assign(to: plain, of: descriptor.name)
      var numbers: Set<Int32> = []
      return descriptor.value.enumerated().map { index, value in
        EnumValueSchema(
          name: value.name,
          number: value.number,
          path: path + [2, Int32(index)],
          isDeprecated: value.options.deprecated,
          swiftName: names[index],
          isAlias: !numbers.insert(value.number).inserted
        )
      }
    }
    throw GeneratorError("the enum '\(fullName)' has a value with the invalid name '\(wrong.name)'")
  }
}

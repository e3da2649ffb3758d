import SwitchboardProtobuf
import SwitchboardSchema
import SwitchboardText

/// Declares all types of a pool first, so that any can refer to any other, then links their fields.
struct PoolBuilder {
  /// A declared message, with the features that its fields inherit.
  struct Declared {
    let descriptor: Google_Protobuf_DescriptorProto
    let fullName: String
    let file: String
    let features: Features
    let isMapEntry: Bool
    /// The numbers of extensions, sorted.
    let extensionRanges: [Range<Int64>]
    let isMessageSet: Bool
  }

  /// All declarations. They do not change while fields are linked.
  struct Declarations {
    var messages: [Declared] = []
    var messagesByName: [ExactText: Int] = [:]
    var enumsByName: [ExactText: EnumTable] = [:]
  }

  /// Extension fields that were declared together.
  struct Extensions {
    let fields: [Google_Protobuf_FieldDescriptorProto]
    let scope: Scope
  }

  /// The scope of a declaration.
  struct Scope {
    let file: String
    let prefix: String
    let features: Features
    let depth: Int

    func fullName(_ name: String) -> String { prefix.isEmpty ? name : "\(prefix).\(name)" }
  }

  /// The deepest nesting of message declarations. Real schemas nest a few levels.
  static let maximumDepth = 64

  private(set) var declared = Declarations()
  private var extensions: [Extensions] = []
  private var names = DeclaredNames()
  /// The schemas from which the tables are made, in the order of the messages.
  private var schemas: [TableSchema] = []

  // MARK: Files

  /// Declares the types of files.
  mutating func add(_ files: [Google_Protobuf_FileDescriptorProto]) throws(DescriptorError) {
    var byName: [ExactText: Google_Protobuf_FileDescriptorProto] = [:]
    var unique: [Google_Protobuf_FileDescriptorProto] = []
    for file in files {
      try names.check(file)
      if let other = byName[file.name] {
        guard other == file else {
          throw DescriptorError(file: file.name, "two files have this name but differ")
        }
        continue
      }
      byName[file.name] = file
      unique.append(file)
    }
    for file in unique {
      for dependency in file.dependency where byName[dependency] == nil {
        throw DescriptorError(
          file: file.name,
          "imports \(DescriptorError.shown(dependency)), which is missing"
        )
      }
    }
    try PoolBuilder.refuseCycles(byName)
    for file in unique { try declare(file) }
  }

  /// Rejects cyclic imports. Imports may form a long chain, so it does not recurse.
  private static func refuseCycles(
    _ files: [ExactText: Google_Protobuf_FileDescriptorProto]
  ) throws(DescriptorError) {
    var isDone: [ExactText: Bool] = [:]
    for name in files.keys.map(\.text).sorted(by: { $0.precedes($1) }) where isDone[name] == nil {
      var path: [(name: String, imports: ArraySlice<String>)] = [(name, files[name]?.dependency[...] ?? [])]
      isDone[name] = false
      while let last = path.indices.last {
        guard let next = path[last].imports.popFirst() else {
          isDone[path.removeLast().name] = true
          continue
        }
        switch isDone[next] {
        case true?: break
        case false?: throw DescriptorError(file: path[last].name, "imports \(next), which imports it")
        case nil:
          isDone[next] = false
          path.append((next, files[next]?.dependency[...] ?? []))
        }
      }
    }
  }

  private mutating func declare(_ file: Google_Protobuf_FileDescriptorProto) throws(DescriptorError) {
    var features = try Features.defaults(of: file)
    if file.hasOptions, file.options.hasFeatures { features = features.with(file.options.features) }
    let scope = Scope(file: file.name, prefix: file.package, features: features, depth: 0)
    var taken: Set<ExactText> = []
    for message in file.messageType { try declare(message, in: scope, &taken) }
    for type in file.enumType { try declare(type, in: scope, &taken) }
    for service in file.service { try declare(service, in: scope, &taken) }
    try declare(file.extension, in: scope, &taken)
  }

  // MARK: Declarations

  // The names of a scope's declarations are collected in `taken`.

  private mutating func declare(
    _ descriptor: Google_Protobuf_DescriptorProto,
    in scope: Scope,
    _ taken: inout Set<ExactText>
  ) throws(DescriptorError) {
    guard scope.depth < PoolBuilder.maximumDepth else {
      throw DescriptorError(file: scope.file, "\(scope.prefix): messages are nested too deep")
    }
    let fullName = try names.add(symbol: descriptor.name, to: &taken, in: scope)
    let options = descriptor.options
    let features = options.hasFeatures ? scope.features.with(options.features) : scope.features
    var schema = TableSchema(fullName: fullName)
    schema.reservedNames = descriptor.reservedName.filter(\.isIdentifier)
    schema.isMessageSet = options.messageSetWireFormat
    schemas.append(schema)
    declared.messagesByName[fullName] = declared.messages.count
    declared.messages.append(
      Declared(
        descriptor: descriptor,
        fullName: fullName,
        file: scope.file,
        features: features,
        isMapEntry: options.mapEntry,
        extensionRanges: descriptor.extensionRange
          .filter { $0.start < $0.end }
          .map { Int64($0.start)..<Int64($0.end) }
          .sorted { $0.lowerBound < $1.lowerBound },
        isMessageSet: options.messageSetWireFormat
      )
    )
    let inner = Scope(file: scope.file, prefix: fullName, features: features, depth: scope.depth + 1)
    var members: Set<ExactText> = []
    for field in descriptor.field { _ = try names.add(field.name, to: &members, in: inner) }
    for oneof in descriptor.oneofDecl { _ = try names.add(oneof.name, to: &members, in: inner) }
    for nested in descriptor.nestedType { try declare(nested, in: inner, &members) }
    for type in descriptor.enumType { try declare(type, in: inner, &members) }
    try declare(descriptor.extension, in: inner, &members)
  }

  private mutating func declare(
    _ descriptor: Google_Protobuf_EnumDescriptorProto,
    in scope: Scope,
    _ taken: inout Set<ExactText>
  ) throws(DescriptorError) {
    let fullName = try names.add(symbol: descriptor.name, to: &taken, in: scope)
    // The values are declared beside the enum, not in it.
    for value in descriptor.value { _ = try names.add(value.name, to: &taken, in: scope) }
    let options = descriptor.options
    let features = options.hasFeatures ? scope.features.with(options.features) : scope.features
    let isOpen = features.enumType == .open
    let values = descriptor.value.map { (name: $0.name, number: $0.number) }
    guard let type = EnumTable(fullName: fullName, isOpen: isOpen, values: values) else {
      throw DescriptorError(file: scope.file, "\(fullName) has no values")
    }
    guard !isOpen || type.defaultNumber == 0 else {
      throw DescriptorError(file: scope.file, "the first value of \(fullName), an open enum, is not 0")
    }
    declared.enumsByName[fullName] = type
  }

  private mutating func declare(
    _ service: Google_Protobuf_ServiceDescriptorProto,
    in scope: Scope,
    _ taken: inout Set<ExactText>
  ) throws(DescriptorError) {
    let fullName = try names.add(symbol: service.name, to: &taken, in: scope)
    let inner = Scope(file: scope.file, prefix: fullName, features: scope.features, depth: scope.depth + 1)
    var methods: Set<ExactText> = []
    for method in service.method { _ = try names.add(method.name, to: &methods, in: inner) }
  }

  private mutating func declare(
    _ fields: [Google_Protobuf_FieldDescriptorProto],
    in scope: Scope,
    _ taken: inout Set<ExactText>
  ) throws(DescriptorError) {
    guard !fields.isEmpty else { return }
    for field in fields { _ = try names.add(symbol: field.name, to: &taken, in: scope) }
    extensions.append(Extensions(fields: fields, scope: scope))
  }

  // MARK: Tables

  /// Makes the table of every message.
  mutating func tables() throws(DescriptorError) -> [MessageTable] {
    for index in declared.messages.indices { try linkFields(of: index) }
    for group in extensions {
      for field in group.fields { try link(field, in: group.scope) }
    }
    do throws(TableSetError) {
      return try TableSet(schemas).messages
    } catch {
      let message = declared.messages[error.index]
      throw DescriptorError(file: message.file, "\(message.fullName): \(PoolBuilder.text(error.reason))")
    }
  }

  private static func text(_ error: TableError) -> String {
    switch error {
    case .duplicateNumber(let number): "two fields have the number \(number)"
    case .tooManyFields: "the message has too many fields or oneofs"
    case .unknownLayout: "messages known only at run time are not supported on this system"
    }
  }

  private mutating func linkFields(of index: Int) throws(DescriptorError) {
    let message = declared.messages[index]
    let linker = FieldLinker(pool: declared, file: message.file, scope: message.fullName)
    let synthetic = Set(message.descriptor.field.lazy.filter(\.proto3Optional).map(\.oneofIndex))
    // Synthetic oneofs come last, so that the others keep their indexes.
    let oneofs = message.descriptor.oneofDecl
    schemas[index].oneofs = oneofs.indices.filter { !synthetic.contains(Int32($0)) }.map { oneofs[$0].name }
    for field in message.descriptor.field {
      guard !field.hasExtendee else { throw linker.error(field, "is a field, but names what it extends") }
      var features = message.features
      if field.hasOneofIndex, !field.proto3Optional {
        guard oneofs.indices.contains(Int(field.oneofIndex)) else {
          throw linker.error(field, "belongs to a oneof that does not exist")
        }
        let options = oneofs[Int(field.oneofIndex)].options
        if options.hasFeatures { features = features.with(options.features) }
      }
      let schema = try linker.schema(of: field, features: features, oneofs: schemas[index].oneofs.count)
      guard !message.isMessageSet else { throw linker.error(field, "is a field of a MessageSet") }
      schemas[index].fields.append(schema)
    }
  }

  /// Adds an extension to the message that it extends.
  private mutating func link(
    _ field: Google_Protobuf_FieldDescriptorProto,
    in scope: Scope
  ) throws(DescriptorError) {
    let linker = FieldLinker(pool: declared, file: scope.file, scope: scope.prefix)
    guard let extended = linker.message(named: field.extendee) else {
      throw linker.error(field, "extends '\(DescriptorError.shown(field.extendee))', which is not declared")
    }
    guard declared.messages[extended].allowsExtension(field.number) else {
      throw linker.error(
        field,
        "has a number that \(declared.messages[extended].fullName) does not leave to extensions"
      )
    }
    var schema = try linker.schema(of: field, features: scope.features, oneofs: 0)
    let fullName = scope.fullName(field.name)
    schema.isExtension = true
    schema.name = "[\(fullName)]"
    schema.jsonName = schema.name
    schema.textName = nil
    if schema.presence == .implicit { schema.presence = .explicit }
    if declared.messages[extended].isMessageSet {
      guard schema.type == .message, !schema.isRepeated, schema.presence != .required else {
        throw linker.error(field, "extends a MessageSet, which holds only optional messages")
      }
      // The text format names such an extension after its message, which usually declares it.
      if let message = schema.message, declared.messages[message].fullName.isExactly(scope.prefix) {
        schema.textName = "[\(scope.prefix)]"
      }
    }
    schemas[extended].fields.append(schema)
  }
}

extension PoolBuilder.Declared {
  /// Whether a number is in a range of extensions.
  func allowsExtension(_ number: Int32) -> Bool {
    var (low, high) = (0, extensionRanges.count)
    while low < high {
      let middle = low + (high - low) / 2
      if extensionRanges[middle].upperBound <= Int64(number) { low = middle + 1 } else { high = middle }
    }
    return low < extensionRanges.count && extensionRanges[low].contains(Int64(number))
  }
}

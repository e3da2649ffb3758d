import SwitchboardText

/// Assigns the Swift names of messages, enums and oneofs.
struct TypeNamer {
  private var schema: Schema
  /// Names of modules, which qualify the types of other modules and so cannot be names of types.
  private let modules: Set<String>
  /// These, and other names that top-level types cannot have.
  private let forbiddenAtTop: Set<String>
  private var taken: [String: Set<String>] = [:]

  /// Types that must be renamed, because Swift's lookup would find them, or another type instead of them.
  private var shadowingMessages: Set<Int> = []
  private var shadowingEnums: Set<Int> = []
  /// Oneofs that must be renamed, by their message and position.
  private var shadowingOneofs: Set<[Int]> = []

  /// Assigns the names of all types in `schema`; those in `reserved` are not for top-level types.
  static func assign(to schema: inout Schema, reserved: Set<String>) {
    var namer = TypeNamer(schema, reserved: reserved)
    repeat { namer.nameAll() } while namer.findShadowing()
    schema = namer.schema
  }

  private init(_ schema: Schema, reserved: Set<String>) {
    self.schema = schema
    modules = Set(schema.files.compactMap(\.module))
    forbiddenAtTop = modules.union(reserved)
  }

  // MARK: Names

  private mutating func nameAll() {
    taken = [:]
    // Messages come before the messages nested in them.
    for index in schema.messages.indices where !schema.messages[index].isMapEntry {
      let message = schema.messages[index]
      let wanted = base(message.name, of: message.file, in: message.parent)
      let name = shadowingMessages.contains(index) ? wanted + "Message" : wanted
      let scope = scope(message.file, message.parent)
      schema.messages[index].swiftName = unique(name, suffix: "Message", in: scope)
      schema.messages[index].swiftFullName = fullName(schema.messages[index].swiftName, in: message.parent)
    }
    for index in schema.enums.indices {
      let value = schema.enums[index]
      let wanted = base(value.name, of: value.file, in: value.parent)
      let name = shadowingEnums.contains(index) ? wanted + "Enum" : wanted
      schema.enums[index].swiftName = unique(name, suffix: "Enum", in: scope(value.file, value.parent))
      schema.enums[index].swiftFullName = fullName(schema.enums[index].swiftName, in: value.parent)
    }
    for index in schema.messages.indices { nameOneofs(of: index) }
  }

  private mutating func nameOneofs(of index: Int) {
    for position in schema.messages[index].oneofs.indices
    where !schema.messages[index].oneofs[position].members.isEmpty {
      let base = "OneOf_" + CamelCase.upper(schema.messages[index].oneofs[position].name)
      let wanted = shadowingOneofs.contains([index, position]) ? base + "Oneof" : base
      let scope = scope(schema.messages[index].file, index)
      schema.messages[index].oneofs[position].swiftName = unique(wanted, suffix: "Oneof", in: scope)
    }
  }

  private func base(_ name: String, of file: Int, in parent: Int?) -> String {
    parent == nil ? schema.files[file].prefix + name : name
  }

  private func scope(_ file: Int, _ parent: Int?) -> String {
    parent.map { schema.messages[$0].swiftFullName } ?? "/\(file)"
  }

  private func fullName(_ name: String, in parent: Int?) -> String {
    parent.map { "\(schema.messages[$0].swiftFullName).\(name)" } ?? name
  }

  private mutating func unique(_ wanted: String, suffix: String, in scope: String) -> String {
    // The scope of top-level types is a file.
    let forbidden = scope.hasPrefix("/") ? forbiddenAtTop : modules
    var name = ReservedWords.typeName(wanted, suffix: suffix, forbidden: forbidden)
    while !taken[scope, default: []].insert(name).inserted { name += suffix }
    return name
  }

  // MARK: Shadowing

  /// Finds nested types that shadow a top-level type in code next to them. Returns whether it found new ones.
  private mutating func findShadowing() -> Bool {
    let before = shadowingCount
    for (index, message) in schema.messages.enumerated() {
      if message.isExtensible { check(.message(index), from: index, in: message.file) }
      for field in message.fields { check(field, from: index, in: message.file) }
      for field in message.extensions { check(field, in: message.file) }
    }
    for (index, file) in schema.files.enumerated() {
      for field in file.extensions { check(field, in: index) }
    }
    return shadowingCount > before
  }

  private var shadowingCount: Int { shadowingMessages.count + shadowingEnums.count + shadowingOneofs.count }

  private mutating func check(_ field: FieldSchema, from message: Int, in file: Int) {
    switch field.type {
    case .scalar: break
    case .enumeration(let index): check(.enumeration(index), from: message, in: file)
    case .message(let index, _): check(.message(index), from: message, in: file)
    }
  }

  /// The accessors of an extension are in the scope of the extended message.
  private mutating func check(_ field: ExtensionSchema, in file: Int) {
    check(field.field, from: field.extended, in: file)
    if let scope = field.scope { check(.message(scope), from: field.extended, in: file) }
  }

  /// Looks up the first part of the name of `symbol` from within `message`, as Swift does.
  private mutating func check(_ symbol: Schema.Symbol, from message: Int, in file: Int) {
    let (name, target) =
      switch symbol {
      case .message(let index): (schema.messages[index].swiftFullName, schema.messages[index].file)
      case .enumeration(let index): (schema.enums[index].swiftFullName, schema.enums[index].file)
      }
    // Types of another module are qualified with the module.
    guard schema.files[target].module == schema.files[file].module else { return }
    let first = name[..<(name.utf8.firstIndex(of: UInt8(ascii: ".")) ?? name.endIndex)]
    // Almost all type names start with a capital letter; no property or variable does.
    if first.utf8.first?.isUpper == false,
      ReservedWords.isLocal(first) || schema.messages[message].hasMember(named: first)
    {
      rename(top: symbol)
    }
    var scope: Int? = message
    while let current = scope {
      for nested in schema.messages[current].nestedMessages where schema.messages[nested].swiftName == first {
        shadowingMessages.insert(nested)
      }
      for nested in schema.messages[current].nestedEnums where schema.enums[nested].swiftName == first {
        shadowingEnums.insert(nested)
      }
      for (position, oneof) in schema.messages[current].oneofs.enumerated()
      where oneof.swiftName == first && !oneof.members.isEmpty {
        shadowingOneofs.insert([current, position])
      }
      scope = schema.messages[current].parent
    }
  }

  /// Renames the top-level type that contains `symbol`, because a member of a message has the same name. That is
  /// possible only without a prefix and with a lower-case type name.
  private mutating func rename(top symbol: Schema.Symbol) {
    var top: Int
    switch symbol {
    case .message(let index): top = index
    case .enumeration(let index):
      guard let parent = schema.enums[index].parent else {
        shadowingEnums.insert(index)
        return
      }
      top = parent
    }
    while let parent = schema.messages[top].parent { top = parent }
    shadowingMessages.insert(top)
  }
}

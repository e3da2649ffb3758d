/// The Swift names of an extension.
struct ExtensionNames {
  /// The name of the constant in its declaration; below, the name qualified for the module.
  let declared: String
  let constant: String
  /// The property of the extended message; below, its `has` and `clear`.
  let property: String
  let has: String
  let clear: String

  /// The names of the extensions of a file; names that would clash get the field number.
  static func assign(to extensions: [ExtensionSchema], in context: FileContext) -> [ExtensionNames] {
    var taken = context.moduleNames.names(in: context.file.module)
    return extensions.map { field in
      var suffix = ""
      while true {
        let names = ExtensionNames(field, in: context, suffix: suffix)
        // Clashing properties have clashing companions. Properties of different messages do not clash.
        let isNew = !taken.contains(names.constant) && !taken.contains("\(field.extended).\(names.property)")
        if isNew, !names.clash(with: context.schema.messages[field.extended]) {
          taken.formUnion([names.constant, "\(field.extended).\(names.property)"])
          return names
        }
        suffix += "_p\(field.field.number)"
      }
    }
  }

  /// Whether the extended message has a member with one of these names. That is possible only without a package.
  private func clash(with message: MessageSchema) -> Bool {
    guard !["extensionFields", "_storage", "_table"].contains(property) else { return true }
    let own = Set([property, has, clear])
    return message.fields.contains {
      !own.isDisjoint(with: [$0.names.property, $0.names.has, $0.names.clear])
    }
      || message.oneofs.contains { !$0.members.isEmpty && own.contains($0.names.property) }
  }

  private init(_ field: ExtensionSchema, in context: FileContext, suffix: String) {
    let base = CamelCase.lower(field.field.namingBase) + suffix
    let prefix = context.file.prefix
    guard let scope = field.scope.map({ context.schema.messages[$0].swiftFullName }) else {
      declared = prefix + "Extensions_" + field.field.namingBase + suffix
      constant = declared
      property = ReservedWords.fieldName(prefix + base, base: prefix + base)
      let upper = prefix.isEmpty ? CamelCase.upper(field.field.namingBase) + suffix : property.capitalized
      has = "has" + (prefix.isEmpty ? ReservedWords.fieldName(upper, base: base) : upper)
      clear = "clear" + (prefix.isEmpty ? ReservedWords.fieldName(upper, base: base) : upper)
      return
    }
    declared = ReservedWords.caseName(field.field.namingBase + suffix)
    constant = "\(scope).Extensions.\(declared.withoutBackticks)"
    property = String(scope.map { $0 == "." ? "_" : $0 }) + "_" + base
    has = "has" + property.capitalized
    clear = "clear" + property.capitalized
  }
}

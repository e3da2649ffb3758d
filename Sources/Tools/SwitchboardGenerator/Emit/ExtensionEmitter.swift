/// Writes the extensions that a file declares: constants, properties of the extended messages, and a registry.
struct ExtensionEmitter {
  let context: FileContext

  private var visibility: String { context.visibility }

  /// All extensions of the file: first those at the top level, then those in messages.
  private var all: [ExtensionSchema] {
    context.file.extensions + context.schema.messages[context.file.allMessages].flatMap(\.extensions)
  }

  /// Writes the extensions, if there are any.
  func emit(to printer: inout Printer) {
    let extensions = all
    guard !extensions.isEmpty else { return }
    let names = ExtensionNames.assign(to: extensions, in: context)
    emitConstants(of: extensions, names, to: &printer)
    emitAccessors(of: extensions, names, to: &printer)
    let registry = context.moduleNames.registry(ofFile: context.index)
    printer.blank()
    printer.line("/// The extensions that `\(context.file.name)` declares.")
    printer.line("\(visibility)let \(registry): \(FileContext.runtime("ExtensionRegistry")) = [")
    printer.indented { printer in
      for name in names { printer.line("\(name.constant),") }
    }
    printer.line("]")
  }

  // MARK: Constants

  private func emitConstants(
    of extensions: [ExtensionSchema],
    _ names: [ExtensionNames],
    to printer: inout Printer
  ) {
    for (scope, members) in runs(of: extensions, by: \.scope) {
      printer.blank()
      if let scope {
        printer.block("extension \(context.schema.messages[scope].swiftFullName)") { printer in
          printer.block("\(visibility)enum Extensions") { printer in
            for member in members {
              emitConstant(extensions[member], names[member], keyword: "static let", to: &printer)
            }
          }
        }
      } else {
        for member in members {
          emitConstant(extensions[member], names[member], keyword: "let", to: &printer)
        }
      }
    }
  }

  private func emitConstant(
    _ field: ExtensionSchema,
    _ names: ExtensionNames,
    keyword: String,
    to printer: inout Printer
  ) {
    context.comments.emit(for: field.field.path, isDeprecated: field.field.isDeprecated, to: &printer)
    let codec = codec(of: field.field)
    let type =
      "\(FileContext.runtime("MessageExtension"))<\(context.name(ofMessage: field.extended)), \(codec)>"
    printer.line(
      "\(visibility)\(keyword) \(names.declared) = \(type)(number: \(field.field.number), fullName: \"\(field.fullName)\")"
    )
  }

  /// The runtime type that reads and writes the extension.
  private func codec(of field: FieldSchema) -> String {
    let kind =
      switch (field.shape, field.type) {
      case (.repeated, .message(_, isDelimited: true)): "RepeatedGroupExtension"
      case (.repeated, .message): "RepeatedSubmessageExtension"
      case (.repeated(isPacked: true), _): "PackedExtension"
      case (.repeated, _): "RepeatedExtension"
      case (_, .message(_, isDelimited: true)): "GroupExtension"
      case (_, .message): "SubmessageExtension"
      default: "ScalarExtension"
      }
    return "\(FileContext.runtime(kind))<\(context.protoType(field.type))>"
  }

  /// The positions of neighbors that have the same `key`.
  private func runs<Key: Equatable>(
    of extensions: [ExtensionSchema],
    by key: (ExtensionSchema) -> Key
  ) -> [(key: Key, members: Range<Int>)] {
    var runs: [(key: Key, members: Range<Int>)] = []
    for (position, member) in extensions.enumerated() {
      if let last = runs.last, last.key == key(member) {
        runs[runs.count - 1].members = last.members.lowerBound..<position + 1
      } else {
        runs.append((key(member), position..<position + 1))
      }
    }
    return runs
  }

  // MARK: Properties

  private func emitAccessors(
    of extensions: [ExtensionSchema],
    _ names: [ExtensionNames],
    to printer: inout Printer
  ) {
    for (extended, members) in runs(of: extensions, by: \.extended) {
      printer.blank()
      printer.block("extension \(context.name(ofMessage: extended))") { printer in
        for member in members {
          let field = extensions[member].field
          context.comments.emit(for: field.path, isDeprecated: field.isDeprecated, to: &printer)
          for line in accessors(of: field, names[member]) { printer.line(line) }
        }
      }
    }
  }

  private func accessors(of field: FieldSchema, _ names: ExtensionNames) -> [String] {
    let value = "self[\(names.constant)]"
    let accessors = "get { \(value) ?? \(context.initialValue(of: field)) } set { \(value) = newValue }"
    return [
      "\(visibility)var \(names.property): \(context.propertyType(of: field)) { \(accessors) }",
      "\(visibility)var \(names.has): Bool { \(value) != nil }",
      "\(visibility)mutating func \(names.clear)() { \(value) = nil }",
    ]
  }
}

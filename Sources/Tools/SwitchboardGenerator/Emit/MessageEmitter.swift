/// Writes one message and everything nested in it.
struct MessageEmitter {
  let context: FileContext
  let message: MessageSchema

  private var oneofs: [OneofEmitter] {
    message.oneofs.filter { !$0.members.isEmpty }.map {
      OneofEmitter(context: context, message: message, oneof: $0)
    }
  }

  /// Writes the struct.
  func emit(to printer: inout Printer) {
    printer.blank()
    context.comments.emit(for: message.path, isDeprecated: message.isDeprecated, to: &printer)
    let conformance = FileContext.runtime(message.isExtensible ? "ExtensibleMessage" : "Message")
    printer.block("\(context.visibility)struct \(message.swiftName): \(conformance)") { printer in
      emitProperties(to: &printer)
      emitStorage(to: &printer)
      emitNested(to: &printer)
    }
  }

  private func emitProperties(to printer: inout Printer) {
    for field in message.fields {
      context.comments.emit(for: field.path, isDeprecated: field.isDeprecated, to: &printer)
      for line in FieldAccessors(context: context, field: field).lines { printer.line(line) }
    }
    for oneof in oneofs { oneof.emitProperty(to: &printer) }
  }

  /// Writes the stored property, the initializer and the table of the fields.
  private func emitStorage(to printer: inout Printer) {
    let visibility = context.visibility
    let storage = FileContext.runtime("MessageStorage")
    let table = FileContext.runtime("TableData")
    let fields = TableText(of: message, in: context)
    let types = fields.types.map { "\($0).self" }.joined(separator: ", ")
    printer.line("\(visibility)var _storage: \(storage)")
    printer.line("\(visibility)init() { _storage = \(storage)(Self._table) }")
    printer.line(
      "\(visibility)static let _table: \(table) = "
        + "\(table)(layout1: Self.self, \"\(message.fullName)\", \"\(fields.text)\")"
        + (types.isEmpty ? "" : " { [\(types)] }")
    )
  }

  private func emitNested(to printer: inout Printer) {
    for oneof in oneofs { oneof.emitEnum(to: &printer) }
    for index in message.nestedEnums {
      EnumEmitter(context: context, schema: context.schema.enums[index]).emit(to: &printer)
    }
    for index in message.nestedMessages where !context.schema.messages[index].isMapEntry {
      MessageEmitter(context: context, message: context.schema.messages[index]).emit(to: &printer)
    }
  }
}

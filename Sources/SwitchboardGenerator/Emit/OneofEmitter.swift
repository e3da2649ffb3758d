/// Writes the enum that holds the value of a oneof.
struct OneofEmitter {
  let context: FileContext
  let message: MessageSchema
  let oneof: OneofSchema

  /// Writes the enum.
  func emit(to printer: inout Printer) {
    printer.blank()
    context.comments.emit(for: oneof.path, to: &printer)
    printer.block("\(context.visibility)enum \(oneof.swiftName): Hashable, Sendable") { printer in
      for member in oneof.members {
        let field = message.fields[member]
        context.comments.emit(for: field.path, isDeprecated: field.isDeprecated, to: &printer)
        printer.line("case \(field.names.property)(\(context.valueType(field.type)))")
      }
    }
  }
}

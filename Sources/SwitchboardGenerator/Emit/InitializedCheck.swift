/// Writes `isInitialized` of a message in which required fields can be missing.
struct InitializedCheck {
  let context: FileContext
  let message: MessageSchema
  let holder: String

  /// Writes the property.
  func emit(to printer: inout Printer) {
    let checks = message.fields.flatMap(check)
    let last = message.isExtensible ? "\(holder)extensionFields.isInitialized" : "true"
    printer.block("\(context.visibility)var isInitialized: Bool") { printer in
      for check in checks { printer.line("if \(check) { return false }") }
      printer.line("return \(last)")
    }
  }

  private func stored(_ property: String) -> String {
    holder.isEmpty ? ReservedWords.expression(property) : holder + property
  }

  /// The conditions under which the message is not initialized.
  private func check(_ field: FieldSchema) -> [String] {
    var checks: [String] = []
    if case .required = field.shape { checks.append("\(stored(field.names.storage)) == nil") }
    guard let index = field.message, context.schema.messages[index].canBeUninitialized else { return checks }
    let property = stored(field.names.property)
    switch field.shape {
    case .repeated: checks.append("!\(property).allSatisfy({ $0.isInitialized })")
    case .map: checks.append("!\(property).values.allSatisfy({ $0.isInitialized })")
    case .oneof(let oneof):
      let name = field.names.property.withoutBackticks
      checks.append(
        "case .\(name)(let value)? = \(stored(message.oneofs[oneof].names.property)), !value.isInitialized"
      )
    case .implicit, .explicit, .required:
      checks.append("let value = \(stored(field.names.storage)), !value.isInitialized")
    }
    return checks
  }
}

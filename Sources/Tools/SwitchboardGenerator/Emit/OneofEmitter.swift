/// Writes a oneof: the property of the message, and the enum that is its value.
struct OneofEmitter {
  let context: FileContext
  let message: MessageSchema
  let oneof: OneofSchema

  private var members: [FieldSchema] { oneof.members.map { message.fields[$0] } }

  /// Writes the property.
  func emitProperty(to printer: inout Printer) {
    context.comments.emit(for: oneof.path, to: &printer)
    let modifiers = context.options.visibility.accessorModifiers
    printer.block("\(modifiers)var \(oneof.names.property): \(oneof.swiftName)?") { printer in
      printer.block("get") { printer in
        printer.line("switch _storage.member(\(oneof.slot.offset)) {")
        for member in members {
          printer.line("case \(member.number): .\(member.names.caseName)(\(slot(of: member)))")
        }
        printer.line("default: nil")
        printer.line("}")
      }
      printer.block("set") { printer in
        printer.line("switch newValue {")
        for member in members {
          printer.line("case .\(member.names.caseName)(let value)?: \(slot(of: member)) = value")
        }
        printer.line("case nil: _storage.clear(oneof: \(oneof.slot.offset))")
        printer.line("}")
      }
    }
  }

  /// Writes the enum.
  func emitEnum(to printer: inout Printer) {
    printer.blank()
    context.comments.emit(for: oneof.path, to: &printer)
    printer.block("\(context.visibility)enum \(oneof.swiftName): Hashable, Sendable") { printer in
      for field in members {
        context.comments.emit(for: field.path, isDeprecated: field.isDeprecated, to: &printer)
        printer.line("case \(field.names.property)(\(context.valueType(field.type)))")
      }
    }
  }

  private func slot(of member: FieldSchema) -> String { FieldAccessors(context: context, field: member).slot }
}

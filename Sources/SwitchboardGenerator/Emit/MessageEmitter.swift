/// Writes one message and everything nested in it.
struct MessageEmitter {
  let context: FileContext
  let message: MessageSchema

  private var visibility: String { context.visibility }
  /// The prefix of expressions for stored fields.
  private var holder: String { message.isBoxed ? "_fields.value." : "" }

  /// Writes the struct.
  func emit(to printer: inout Printer) {
    printer.blank()
    context.comments.emit(for: message.path, isDeprecated: message.isDeprecated, to: &printer)
    let conformance = FileContext.runtime(message.isExtensible ? "ExtensibleMessage" : "Message")
    printer.block("\(visibility)struct \(message.swiftName): \(conformance)") { printer in
      emitProperties(to: &printer)
      emitSchema(to: &printer)
      emitWalks(to: &printer)
      if message.isBoxed { emitFields(to: &printer) }
      emitNested(to: &printer)
    }
  }

  // MARK: Properties

  private func emitProperties(to printer: inout Printer) {
    if message.isBoxed {
      printer.line("private var _fields = \(FileContext.runtime("Boxed"))(_Fields())")
    }
    for field in message.fields {
      context.comments.emit(for: field.path, isDeprecated: field.isDeprecated, to: &printer)
      emit(field, to: &printer)
    }
    for oneof in message.oneofs where !oneof.members.isEmpty {
      context.comments.emit(for: oneof.path, to: &printer)
      emitStored(oneof.names.property, type: "\(oneof.swiftName)?", to: &printer)
    }
    let unknown = FileContext.runtime("UnknownFields")
    let extensions = FileContext.runtime("ExtensionFields")
    if message.isBoxed {
      emitStored("unknownFields", type: unknown, to: &printer)
      if message.isExtensible { emitStored("extensionFields", type: extensions, to: &printer) }
    } else {
      printer.line("\(visibility)var unknownFields = \(unknown)()")
      if message.isExtensible { printer.line("\(visibility)var extensionFields = \(extensions)()") }
    }
    printer.line("\(visibility)init() {}")
  }

  private func emit(_ field: FieldSchema, to printer: inout Printer) {
    let code = FieldCode(context: context, field: field)
    if let oneof = field.oneof {
      let oneof = message.oneofs[oneof]
      printer.line(code.accessor(in: oneof, holder: holder, visibility: visibility))
    } else if field.isStoredAsOptional {
      for line in code.accessors(holder: holder, visibility: visibility) { printer.line(line) }
      if !message.isBoxed { printer.line(code.storage(visibility: visibility, hidden: "private ")) }
    } else if message.isBoxed {
      emitStored(field.names.property, type: context.propertyType(of: field), to: &printer)
    } else {
      printer.line(code.storage(visibility: visibility, hidden: "private "))
    }
  }

  /// Writes a property that is stored in the struct or, if the message is boxed, on the heap.
  private func emitStored(_ property: String, type: String, to printer: inout Printer) {
    let value = holder + property
    let accessors = message.isBoxed ? " { get { \(value) } _modify { yield &\(value) } }" : ""
    printer.line("\(visibility)var \(property): \(type)\(accessors)")
  }

  // MARK: Names and walks

  private func emitSchema(to printer: inout Printer) {
    printer.line("\(visibility)static let protoMessageName = \"\(message.fullName)\"")
    if message.isBoxed {
      let type = FileContext.runtime("FieldNames")
      printer.line("\(visibility)static var fieldNames: \(type) { _Fields.fieldNames }")
    } else {
      printer.line("\(visibility)static let fieldNames = \(CompactNames.fieldNames(of: message))")
    }
    if message.canBeUninitialized {
      InitializedCheck(context: context, message: message, holder: holder).emit(to: &printer)
    }
  }

  private func emitWalks(to printer: inout Printer) {
    guard message.isBoxed else {
      return FieldWalks(context: context, message: message, selfName: "Self")
        .emit(visibility: visibility, to: &printer)
    }
    let decodeError = FileContext.runtime("DecodeError")
    let merge = "merge(from decoder: inout \(FileContext.runtime("BinaryDecoder"))) throws(\(decodeError))"
    printer.line("\(visibility)mutating func \(merge) { try _fields.value.merge(from: &decoder) }")
    printer.block(visibility + FieldWalks.decodeHead) {
      $0.line("try _fields.value.decodeField(number, from: &decoder)")
    }
    let fields = "fields throws(\(FileContext.runtime("EncodeError")))"
    printer.block(visibility + FieldWalks.traverseHead) { printer in
      printer.line("try _fields.lend { \(fields) in try fields.traverse(&visitor) }")
    }
  }

  /// Writes the struct with the fields of a boxed message.
  private func emitFields(to printer: inout Printer) {
    printer.block("private struct _Fields: \(FileContext.runtime("MessageFields"))") { printer in
      for field in message.fields where field.oneof == nil {
        let code = FieldCode(context: context, field: field)
        printer.line(code.storage(visibility: "", hidden: ""))
      }
      for oneof in message.oneofs where !oneof.members.isEmpty {
        printer.line("var \(oneof.names.property): \(oneof.swiftName)?")
      }
      printer.line("var unknownFields = \(FileContext.runtime("UnknownFields"))()")
      if message.isExtensible {
        printer.line("var extensionFields = \(FileContext.runtime("ExtensionFields"))()")
      }
      printer.line("static let fieldNames = \(CompactNames.fieldNames(of: message))")
      FieldWalks(context: context, message: message, selfName: message.swiftFullName)
        .emit(visibility: "", to: &printer)
    }
  }

  // MARK: Nested types

  private func emitNested(to printer: inout Printer) {
    for oneof in message.oneofs where !oneof.members.isEmpty {
      OneofEmitter(context: context, message: message, oneof: oneof).emit(to: &printer)
    }
    for index in message.nestedEnums {
      EnumEmitter(context: context, schema: context.schema.enums[index]).emit(to: &printer)
    }
    for index in message.nestedMessages where !context.schema.messages[index].isMapEntry {
      MessageEmitter(context: context, message: context.schema.messages[index]).emit(to: &printer)
    }
  }
}

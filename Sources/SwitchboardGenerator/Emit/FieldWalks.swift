/// Writes the methods that decode and visit the fields of a message, in the type that stores the fields.
struct FieldWalks {
  let context: FileContext
  let message: MessageSchema
  /// The name of the message in these methods.
  let selfName: String

  static let decodeHead =
    "mutating func decodeField(_ number: Int32, from decoder: inout some SwitchboardProtobuf.FieldDecoder) "
    + "throws(SwitchboardProtobuf.DecodeError)"
  static let traverseHead =
    "func traverse(_ visitor: inout some SwitchboardProtobuf.FieldVisitor) throws(SwitchboardProtobuf.EncodeError)"

  /// Writes both methods.
  func emit(visibility: String, to printer: inout Printer) {
    emitDecode(visibility: visibility, to: &printer)
    emitTraverse(visibility: visibility, to: &printer)
  }

  // MARK: Reading

  private func emitDecode(visibility: String, to printer: inout Printer) {
    let head = visibility + FieldWalks.decodeHead
    if message.isMessageSet {
      return printer.block(head) { printer in
        printer.line("try decoder.messageSetField(number, of: \(selfName).self, into: &extensionFields)")
      }
    }
    guard !message.fields.isEmpty || !message.extensionRanges.isEmpty else {
      return printer.line(head + " {}")
    }
    printer.block(head) { printer in
      printer.line("switch number {")
      for field in message.fields { emitDecode(field, to: &printer) }
      if !message.extensionRanges.isEmpty {
        let ranges = message.extensionRanges.map { "\($0.lowerBound)..<\($0.upperBound)" }.joined(
          separator: ", "
        )
        let read = "try decoder.extensionField(number, of: \(selfName).self, into: &extensionFields)"
        printer.line("case \(ranges): \(read)")
      }
      printer.line("default: break")
      printer.line("}")
    }
  }

  private func emitDecode(_ field: FieldSchema, to printer: inout Printer) {
    let code = FieldCode(context: context, field: field)
    guard let oneof = field.oneof else { return printer.line("case \(field.number): \(code.decode)") }
    let lines = code.decode(in: message.oneofs[oneof])
    if lines.count == 1 { return printer.line("case \(field.number): \(lines[0])") }
    printer.line("case \(field.number):")
    printer.indented { printer in
      for line in lines { printer.line(line) }
    }
  }

  // MARK: Writing

  /// The steps of a visit, in the order of the field numbers.
  private enum Step {
    case field(FieldSchema)
    /// Members of one oneof with consecutive numbers.
    case members([FieldSchema], of: Int)
    case extensions(Range<Int32>)

    var number: Int32 {
      switch self {
      case .field(let field): field.number
      case .members(let fields, _): fields.first?.number ?? 0
      case .extensions(let range): range.lowerBound
      }
    }
  }

  private var steps: [Step] {
    let fields = message.fields.map { field in
      field.oneof.map { Step.members([field], of: $0) } ?? .field(field)
    }
    let extensions = message.isMessageSet ? [] : message.extensionRanges.map { Step.extensions($0) }
    let sorted = (fields + extensions).sorted { $0.number < $1.number }
    return sorted.reduce(into: []) { steps, step in
      if case .members(let new, let oneof) = step, case .members(let before, oneof)? = steps.last {
        steps[steps.count - 1] = .members(before + new, of: oneof)
      } else {
        steps.append(step)
      }
    }
  }

  private func emitTraverse(visibility: String, to printer: inout Printer) {
    printer.block(visibility + FieldWalks.traverseHead) { printer in
      for step in steps { emit(step, to: &printer) }
      if message.isMessageSet { printer.line("try visitor.messageSet(extensionFields)") }
      printer.line("try visitor.unknown(unknownFields)")
    }
  }

  private func emit(_ step: Step, to printer: inout Printer) {
    switch step {
    case .field(let field): printer.line(FieldCode(context: context, field: field).traverse)
    case .members(let fields, let oneof): emit(fields, of: message.oneofs[oneof], to: &printer)
    case .extensions(let range):
      let numbers = "\(range.lowerBound)..<\(range.upperBound)"
      printer.line("try visitor.extensions(extensionFields, in: \(numbers))")
    }
  }

  private func emit(_ fields: [FieldSchema], of oneof: OneofSchema, to printer: inout Printer) {
    let holder = ReservedWords.expression(oneof.names.property)
    func visit(_ field: FieldSchema) -> String { FieldCode(context: context, field: field).traverse("value") }
    func pattern(_ field: FieldSchema) -> String { ".\(field.names.property.withoutBackticks)(let value)?" }
    if fields.count == 1, let field = fields.first {
      return printer.line("if case \(pattern(field)) = \(holder) { \(visit(field)) }")
    }
    printer.line("switch \(holder) {")
    for field in fields { printer.line("case \(pattern(field)): \(visit(field))") }
    printer.line(fields.count == oneof.members.count ? "case nil: break" : "default: break")
    printer.line("}")
  }
}

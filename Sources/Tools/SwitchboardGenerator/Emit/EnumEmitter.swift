/// Writes one enum.
struct EnumEmitter {
  let context: FileContext
  let schema: EnumSchema

  private var visibility: String { context.visibility }
  /// The values that become cases; the others are aliases of these.
  private var cases: [(name: String, number: Int32, value: EnumValueSchema)] {
    schema.values.compactMap { value in
      guard !value.isAlias, let name = value.swiftName else { return nil }
      return (name, value.number, value)
    }
  }

  /// Writes the enum.
  func emit(to printer: inout Printer) {
    printer.blank()
    context.comments.emit(for: schema.path, isDeprecated: schema.isDeprecated, to: &printer)
    printer.block("\(visibility)enum \(schema.swiftName): \(FileContext.runtime("Enum"))") { printer in
      emitCases(to: &printer)
      emitInitializers(to: &printer)
      emitRawValue(to: &printer)
      let all = cases.map { "." + $0.name.withoutBackticks }.joined(separator: ", ")
      printer.line("\(visibility)static let allCases: [Self] = [\(all)]")
      printer.line("\(visibility)static let protoEnumName = \"\(schema.fullName)\"")
      printer.line("\(visibility)static let valueNames = \(CompactNames.valueNames(of: schema.values))")
    }
  }

  private func emitCases(to printer: inout Printer) {
    for (name, _, value) in cases {
      context.comments.emit(for: value.path, isDeprecated: value.isDeprecated, to: &printer)
      printer.line("case \(name)")
    }
    if schema.isOpen { printer.line("case UNRECOGNIZED(Int)") }
    for value in schema.values where value.isAlias {
      guard let name = value.swiftName, let original = schema.swiftName(forNumber: value.number) else {
        continue
      }
      context.comments.emit(for: value.path, isDeprecated: value.isDeprecated, to: &printer)
      printer.line("\(visibility)static let \(name) = Self.\(original.withoutBackticks)")
    }
  }

  private func emitInitializers(to printer: inout Printer) {
    let first = cases.first?.name.withoutBackticks ?? ""
    printer.line("\(visibility)init() { self = .\(first) }")
    printer.block("\(visibility)init?(rawValue: Int)") { printer in
      printer.line("switch rawValue {")
      for (name, number, _) in cases { printer.line("case \(number): self = .\(name.withoutBackticks)") }
      printer.line(schema.isOpen ? "default: self = .UNRECOGNIZED(rawValue)" : "default: return nil")
      printer.line("}")
    }
  }

  private func emitRawValue(to printer: inout Printer) {
    printer.block("\(visibility)var rawValue: Int") { printer in
      printer.line("switch self {")
      for (name, number, _) in cases { printer.line("case .\(name.withoutBackticks): \(number)") }
      if schema.isOpen { printer.line("case .UNRECOGNIZED(let number): number") }
      printer.line("}")
    }
  }
}

import SwitchboardDynamic

/// Prints declarations of a schema as `.proto` text. Reads the comments of each file only once.
struct ProtoText {
  private let schema: Schema
  private let paint: Painter
  private var comments: [Int: Comments] = [:]

  init(_ schema: Schema, _ paint: Painter) {
    self.schema = schema
    self.paint = paint
  }

  /// A declaration; a method with its messages.
  mutating func text(of symbol: Symbol) -> ShownText {
    var printer = printer(file: symbol.file)
    printer.print(symbol)
    var parts = [printer.lines.joined(separator: "\n")]
    if symbol.kind == .method, let method = schema.method(named: symbol.fullName) {
      var done: Set<String> = []
      for type in [method.requestType, method.responseType] where done.insert(type).inserted {
        guard let message = schema.symbol(named: type), message.kind == .message else { continue }
        parts.append(text(of: message))
      }
    }
    return parts.joined(separator: "\n\n")
  }

  /// A whole file.
  mutating func text(ofFile file: Int) -> ShownText {
    var printer = printer(file: file)
    printer.printFile()
    return printer.lines.joined(separator: "\n")
  }

  private mutating func printer(file: Int) -> ProtoPrinter {
    let known = comments[file] ?? Comments(schema.files[file])
    comments[file] = known
    return ProtoPrinter(schema, file: file, paint, known)
  }
}

import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// Prints declarations as `.proto` text, with comments if the descriptors have them.
///
/// The output can be compiled: type names are relative where that is unambiguous, and options are complete. It recurses
/// only as deep as a ``Schema`` allows declarations to be nested.
struct ProtoPrinter {
  typealias Number = SymbolIndex.Number

  let schema: Schema
  let file: Google_Protobuf_FileDescriptorProto
  let paint: Painter
  private let comments: Comments
  private(set) var lines: [ShownText] = []
  private var depth = 0

  /// Prints declarations of one file. `comments` are its comments.
  init(_ schema: Schema, file: Int, _ paint: Painter, _ comments: Comments) {
    self.schema = schema
    self.file = schema.files[file]
    self.paint = paint
    self.comments = comments
  }

  // MARK: Lines

  mutating func line(_ text: ShownText) {
    lines.append(text.isEmpty ? "" : ShownText(String(repeating: "  ", count: depth)) + text)
  }

  /// Prints a block in braces after its head.
  mutating func block(_ head: ShownText, _ body: (inout ProtoPrinter) -> Void) {
    line(head + " {")
    let before = lines.count
    depth += 1
    body(&self)
    depth -= 1
    if lines.count == before {
      lines[before - 1] += "}"
    } else {
      line("}")
    }
  }

  /// Prints a declaration between its comments.
  mutating func commented(_ path: [Int32], _ declaration: (inout ProtoPrinter) -> Void) {
    let pair = comments[path]
    for text in Self.commentLines(pair?.leading ?? "") { line(paint(.comment, "//" + text)) }
    let before = lines.count
    declaration(&self)
    let trailing = Self.commentLines(pair?.trailing ?? "")
    if trailing.count == 1, lines.count == before + 1 {
      lines[before] += " " + paint(.comment, "//" + trailing[0])
    } else {
      for text in trailing { line(paint(.comment, "//" + text)) }
    }
  }

  private static func commentLines(_ text: String) -> [ShownText] {
    var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // A tab in a comment is only space, and a line may end as on Windows.
      let line = line.last == "\r" ? line.dropLast() : line
      return ShownText(String(String.UnicodeScalarView(line.map { $0 == "\t" ? " " : $0 })))
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines
  }

  func keyword(_ word: String) -> ShownText { paint(.keyword, word) }
  func name(_ name: String) -> ShownText { paint(.name, name) }
  func type(_ name: String) -> ShownText { paint(.type, name) }

  /// A string in quotes.
  func quoted(_ text: String) -> ShownText { paint(.string, Self.literal(text)) }

  /// The same without colors.
  static func literal(_ text: String) -> ShownText { ShownText(JSONText.string(text), as: .proto) }

  // MARK: Declarations

  /// The whole file.
  mutating func printFile() {
    if file.edition != .unknown {
      let edition = "\(file.edition)".split(separator: "_").last.map(String.init) ?? "2023"
      line("\(keyword("edition")) = \(quoted(edition.filter(\.isNumber)));")
    } else {
      let syntax = file.syntax.isEmpty ? "proto2" : file.syntax
      line("\(keyword("syntax")) = \(quoted(syntax));")
    }
    if !file.package.isEmpty {
      line("")
      line("\(keyword("package")) \(file.package);")
    }
    if !file.dependency.isEmpty { line("") }
    let publics = Set(file.publicDependency)
    for (index, dependency) in file.dependency.enumerated() {
      let kind: ShownText =
        publics.contains(Int32(truncatingIfNeeded: index)) ? " \(keyword("public"))" : ""
      line("\(keyword("import"))\(kind) \(quoted(dependency));")
    }
    let options = optionTexts(file.hasOptions ? file.options : nil, "google.protobuf.FileOptions")
    if !options.isEmpty { line("") }
    for option in options { line("\(keyword("option")) \(option);") }
    for index in file.service.indices { separated { $0.service(index) } }
    let hidden = Self.groups(file.extension)
    let prefix = file.package.isEmpty ? "." : ".\(file.package)."
    for index in file.messageType.indices where !hidden.contains(prefix + file.messageType[index].name) {
      separated {
        $0.message($0.file.messageType[index], in: $0.file.package, [Number.fileMessage, Int32(index)])
      }
    }
    for index in file.enumType.indices {
      separated { $0.enumeration($0.file.enumType[index], [Number.fileEnum, Int32(index)]) }
    }
    if !file.extension.isEmpty {
      separated { $0.extensions($0.file.extension, in: $0.file.package, [Number.fileExtension]) }
    }
  }

  private mutating func separated(_ body: (inout ProtoPrinter) -> Void) {
    line("")
    body(&self)
  }

  mutating func service(_ index: Int) {
    let service = file.service[index]
    let path = [Number.fileService, Int32(index)]
    commented(path) { printer in
      printer.block("\(printer.keyword("service")) \(printer.name(service.name))") { printer in
        printer.options(service.hasOptions ? service.options : nil, "google.protobuf.ServiceOptions")
        for index in service.method.indices {
          printer.method(service.method[index], path + [2, Int32(index)])
        }
      }
    }
  }

  mutating func method(_ method: Google_Protobuf_MethodDescriptorProto, _ path: [Int32]) {
    commented(path) { printer in
      func side(_ type: String, _ streams: Bool) -> ShownText {
        let stream: ShownText = streams ? printer.keyword("stream") + " " : ""
        return "(\(stream)\(printer.type(printer.relative(type, in: printer.file.package))))"
      }
      let head: ShownText =
        "\(printer.keyword("rpc")) \(printer.name(method.name))\(side(method.inputType, method.clientStreaming)) "
        + "\(printer.keyword("returns")) \(side(method.outputType, method.serverStreaming))"
      printer.payload(of: method)
      let options = printer.optionTexts(
        method.hasOptions ? method.options : nil,
        "google.protobuf.MethodOptions"
      )
      guard !options.isEmpty else { return printer.line(head + ";") }
      printer.block(head) { printer in
        for option in options { printer.line("\(printer.keyword("option")) \(option);") }
      }
    }
  }

  /// Prints a comment if the messages of a method are not protobuf.
  private mutating func payload(of method: Google_Protobuf_MethodDescriptorProto) {
    guard let formats = schema.marks.formats(of: method) else { return }
    let sides = [("requests", formats.requests), ("responses", formats.responses)].compactMap {
      side,
      format in
      format.map { "\(side) are \($0)" }
    }
    let text = "// On the wire, \(sides.joined(separator: " and ")): of these, the message is but a name."
    line(paint(.comment, ShownText(text, as: .proto)))
  }

  mutating func message(_ message: Google_Protobuf_DescriptorProto, in scope: String, _ path: [Int32]) {
    commented(path) { printer in
      printer.block("\(printer.keyword("message")) \(printer.name(message.name))") { printer in
        printer.body(of: message, scope.isEmpty ? message.name : "\(scope).\(message.name)", path)
      }
    }
  }

  mutating func enumeration(_ type: Google_Protobuf_EnumDescriptorProto, _ path: [Int32]) {
    commented(path) { printer in
      printer.block("\(printer.keyword("enum")) \(printer.name(type.name))") { printer in
        printer.options(type.hasOptions ? type.options : nil, "google.protobuf.EnumOptions")
        for (index, value) in type.value.enumerated() {
          printer.value(value, path + [Number.enumValue, Int32(index)])
        }
        let ranges = type.reservedRange.map { Self.range($0.start, $0.end, limit: .max) }
        printer.reserved(ranges, type.reservedName)
      }
    }
  }

  mutating func value(_ value: Google_Protobuf_EnumValueDescriptorProto, _ path: [Int32]) {
    commented(path) { printer in
      let options = printer.optionTexts(
        value.hasOptions ? value.options : nil,
        "google.protobuf.EnumValueOptions"
      )
      printer.line(
        "\(value.name) = \(printer.paint(.number, "\(value.number)"))\(Self.inBrackets(options));"
      )
    }
  }

  // MARK: Names

  /// The shortest name that means a type in a scope: `Order` for `.shop.Order` in `shop`, unless another `Order` is nearer.
  func relative(_ fullName: String, in scope: String) -> String {
    let wanted = fullName.hasPrefix(".") ? String(fullName.dropFirst()) : fullName
    let package = file.package
    guard !package.isEmpty, wanted.hasPrefix(package + ".") else { return wanted }
    let short = wanted.dropFirst(package.utf8.count + 1)
    let first = short.prefix { $0 != "." }
    // As in the compiler, the first part of a name is looked up from the innermost scope outwards.
    var scope = scope[...]
    while scope.utf8.count > package.utf8.count {
      if schema.symbol(named: "\(scope).\(first)") != nil { return wanted }
      scope = scope.lastIndex(of: ".").map { scope[..<$0] } ?? ""
    }
    return String(short)
  }

  static func range(_ start: Int32, _ last: Int32, limit: Int32) -> String {
    start == last ? "\(start)" : "\(start) to \(last >= limit ? "max" : "\(last)")"
  }

  static func inBrackets(_ options: [ShownText]) -> ShownText {
    options.isEmpty ? "" : " [\(options.joined(separator: ", "))]"
  }
}

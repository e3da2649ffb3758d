import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf

/// The verb `describe`: shows a symbol as `.proto` text, as JSON or as a tree.
enum DescribeVerb {
  static let json = Flag("--json", help: "Write the descriptor in JSON.")
  static let tree = Flag("--tree", help: "Draw a message or a service as a tree, with all messages in it.")
  static let wholeFile = Flag("--file", help: "Write the whole file that declares the SYMBOL.")

  static let verb = Verb(
    "describe",
    summary: "describe services, methods, messages and enums",
    usage: [
      "TARGET [SYMBOL] [FLAG]...", "--proto FILE [-I DIR]... [SYMBOL]", "--descriptor-set FILE [SYMBOL]",
    ],
    details: [
      "Writes .proto text, which compiles again. Comments are shown where the descriptors have them: those of .proto "
        + "files do, those of most servers do not. Without a SYMBOL all services are described. A method is shown with "
        + "its messages."
    ],
    operands: [
      Operand(
        "TARGET",
        isOptional: true,
        "The server: HOST[:PORT], unix:PATH, or any gRPC target; also URLs without a path."
      ),
      Operand(
        "SYMBOL",
        isOptional: true,
        completion: .symbols,
        "The full name of a service, a method (shop.Shop/Order), a message, a field, an enum or a value."
      ),
    ],
    flags: [FlagGroup("Output", [json, tree, wholeFile]), SchemaFlags.group, TargetFlags.group],
    examples: [
      Example("describe localhost:50051", "All services of a server."),
      Example("describe localhost:50051 shop.Order", "A message."),
      Example(
        "describe localhost:50051 shop.Shop --tree",
        "A service with the messages of its methods."
      ),
      Example(
        "describe --proto shop.proto -I protos shop.Shop/Buy",
        "A method, with comments, from its file."
      ),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let outputs = [json, tree, wholeFile].filter { arguments.has($0) }
    guard outputs.count <= 1 else {
      throw Failure.usage("\(outputs[0].name) and \(outputs[1].name) contradict each other")
    }
    let request = try SchemaRequest(arguments, of: "describe")
    defer { request.close() }
    let (schema, symbols) = try await symbols(request)
    let paint = Painter(Terminal.current())
    if arguments.has(json) {
      let texts = try symbols.map { try DescriptorJSON(schema, $0).text }
      let text = texts.count == 1 ? texts[0] : "[" + texts.joined(separator: ",") + "]"
      try Output.write(JSONPainter(paint, isPretty: true).text(of: Array(text.utf8)))
      return .success
    }
    var parts: [ShownText] = []
    var texts = ProtoText(schema, paint)
    if arguments.has(wholeFile) {
      var done: Set<Int> = []
      for symbol in symbols where done.insert(symbol.file).inserted {
        parts.append(texts.text(ofFile: symbol.file))
      }
    } else {
      var package: String?
      for symbol in symbols {
        let isDrawn = arguments.has(tree)
        let file = schema.files[symbol.file].package
        // Without a SYMBOL, only the package shows what the full names are.
        if !isDrawn, request.symbol == nil, file != package, !file.isEmpty {
          parts.append("package \(file);")
        }
        package = file
        parts.append(isDrawn ? try drawn(symbol, schema, paint) : texts.text(of: symbol))
      }
    }
    if !parts.isEmpty { try Output.write(parts.joined(separator: "\n\n")) }
    return .success
  }

  /// The symbols to describe.
  private static func symbols(_ request: SchemaRequest) async throws -> (Schema, [Symbol]) {
    guard let name = request.symbol else {
      let schema = try await request.source.wholeSchema()
      return (schema, schema.services.compactMap { schema.symbol(named: $0.fullName) })
    }
    // `shop.Shop/Order` means the method `shop.Shop.Order`.
    let symbol = name.contains("/") ? name.split(separator: "/").joined(separator: ".") : name
    let schema = try await request.source.schema(of: symbol)
    guard let found = schema.symbol(named: symbol) else {
      throw Failure("the descriptors that were sent do not declare '\(symbol)'", code: .data)
    }
    return (schema, [found])
  }

  // MARK: Forms

  private static func drawn(_ symbol: Symbol, _ schema: Schema, _ paint: Painter) throws(Failure)
    -> ShownText
  {
    var tree = SchemaTree(schema, paint)
    if let service = schema.service(named: symbol.fullName) {
      tree.draw(service)
    } else if let message = schema.pool.messageType(named: symbol.fullName) {
      tree.draw(message)
    } else {
      throw .usage("--tree draws a service or a message, but \(symbol.fullName) is a \(symbol.kind.rawValue)")
    }
    return tree.lines.joined(separator: "\n")
  }
}

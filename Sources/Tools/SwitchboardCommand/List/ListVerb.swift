import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// The verb `list`: the services of a server or of files, or the methods of a service.
enum ListVerb {
  static let long = Flag("-l", "--long", help: "Show the types of requests and responses, too.")
  static let json = Flag("--json", help: "Write JSON.")

  static let verb = Verb(
    "list",
    summary: "list the services of a server, or the methods of a service",
    usage: [
      "TARGET [SERVICE] [FLAG]...", "--proto FILE [-I DIR]... [SERVICE]", "--descriptor-set FILE [SERVICE]",
    ],
    details: [
      "Asks the server's reflection service, v1 or v1alpha. With --proto or --descriptor-set, it lists the services of "
        + "the files and takes no TARGET."
    ],
    operands: [
      Operand(
        "TARGET",
        isOptional: true,
        "The server: HOST[:PORT], unix:PATH, or any gRPC target; also URLs without a path."
      ),
      Operand("SERVICE", isOptional: true, completion: .services, "List the methods of this service."),
    ],
    flags: [FlagGroup("Output", [long, json]), SchemaFlags.group, TargetFlags.group],
    examples: [
      Example("list localhost:50051", "The services of a server."),
      Example("list localhost:50051 shop.Shop -l", "The methods of a service, with their types."),
      Example("list --proto shop.proto -I protos", "The services in a file."),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    if arguments.has(json), arguments.has(long) {
      throw Failure.usage("--json and --long contradict each other")
    }
    let request = try SchemaRequest(arguments, of: "list")
    defer { request.close() }
    guard let symbol = request.symbol else {
      let services = try await request.source.services()
      if arguments.has(json) {
        try Output.write(Self.json(services))
      } else if arguments.has(long) {
        let schema = try await request.source.wholeSchema()
        for service in schema.services where services.contains(service.fullName) {
          try write(service, isLong: true)
        }
      } else if !services.isEmpty {
        try Output.write(services.map { ShownText($0) }.joined(separator: "\n"))
      }
      return .success
    }
    // `shop.Shop/Buy` is a method, and the error says so.
    let name = symbol.split(separator: "/").joined(separator: ".")
    let schema = try await request.source.schema(of: name)
    guard let service = schema.service(named: name) else {
      let kind = schema.symbol(named: name)?.kind.rawValue ?? "name"
      throw Failure(
        "\(name) is not a service but a \(kind)",
        hints: ["'switchboard describe' shows what it is."],
        code: .usage
      )
    }
    if arguments.has(json) {
      try Output.write(Self.json(service.methods.map(\.path)))
    } else {
      try write(service, isLong: arguments.has(long))
    }
    return .success
  }

  /// An array of strings, an element on each line.
  private static func json(_ names: [String]) -> ShownText {
    guard !names.isEmpty else { return "[]" }
    let elements = names.map { name -> ShownText in "  " + ShownText(JSONText.string(name), as: .json) }
    return "[\n" + elements.joined(separator: ",\n") + "\n]"
  }

  private static func write(_ service: SchemaService, isLong: Bool) throws {
    let paint = Painter(Terminal.current())
    for method in service.methods {
      var line = ShownText(method.path)
      if isLong {
        let request = (method.descriptor.clientStreaming ? "stream " : "") + method.requestType
        let response = (method.descriptor.serverStreaming ? "stream " : "") + method.responseType
        line += "(\(paint(.type, request))) returns (\(paint(.type, response)))"
      }
      try Output.write(line)
    }
  }
}

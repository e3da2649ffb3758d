import Switchboard
import SwitchboardDynamic
import SwitchboardServices
import SwitchboardText

/// The verb `call`: calls a method of any kind with requests in JSON or text.
enum CallVerb {
  /// How messages are written and read.
  enum Format: String, CaseIterable {
    case json, text
  }

  static let data = Flag(
    "-d",
    "--data",
    value: "DATA",
    help:
      "The request; several one after the other for a method that streams requests. @FILE reads them from a file and "
      + "@- from standard input, as they arrive."
  )
  static let format = Flag(
    "--format",
    value: "FORMAT",
    completion: .words(["json", "text"]),
    help:
      "json, or text for protobuf's text format; the default is json. Text requests are separated by a line with ---."
  )
  static let template = Flag("--template", help: "Write a request to fill in, without calling the method.")
  static let emitDefaults = Flag("--emit-defaults", help: "Also write fields that have their default value.")
  static let compact = Flag(
    "--compact",
    help: "Write each response on one line. The default if the output is not a terminal."
  )
  static let pretty = Flag("--pretty", help: "Write a member on each line. The default on a terminal.")
  static let verbose = Flag(
    "-v",
    "--verbose",
    help: "Show metadata, trailers, attempts and how long each phase took, on standard error."
  )
  static let deadline = TargetFlags.deadline(help: "Give up after TIME, such as 500ms, 3s or 1m.")
  static let compress = Flag(
    "--compress",
    value: "METHOD",
    completion: .words(["gzip", "deflate", "zstd", "br"]),
    help: "Compress requests: gzip, deflate, zstd or br."
  )
  static let waitForReady = Flag(
    "--wait-for-ready",
    help: "Wait for the server if it cannot be reached yet."
  )
  static let serviceConfig = Flag(
    "--service-config",
    value: "JSON",
    help:
      "A service config, for retries and hedging; @FILE reads it from a file. What is unknown in it is warned of."
  )

  static let verb = Verb(
    "call",
    summary: "call a method, with requests and responses in JSON",
    usage: ["TARGET METHOD [-d DATA] [FLAG]...", "TARGET METHOD --template"],
    details: [
      "Methods of all four kinds are called in the same way: requests are sent as they are read, and responses are "
        + "written as they arrive. Without -d, a method that takes one request gets an empty one, and a method that takes "
        + "a stream gets the requests from standard input.",
      "If the call fails, its status and its details go to standard error, and the exit code is that of the status.",
    ],
    operands: [
      .target,
      Operand("METHOD", completion: .methods, "The method: shop.Shop/Order or shop.Shop.Order."),
    ],
    flags: [
      FlagGroup("Messages", [data, format, template, emitDefaults, compact, pretty]),
      FlagGroup("Call", [deadline, compress, waitForReady, serviceConfig, verbose]),
      SchemaFlags.group, TargetFlags.group,
    ],
    flagRules: [
      .unused(
        [data, emitDefaults, compact, pretty, compress, waitForReady, serviceConfig, verbose],
        beside: template,
        "writes a request, and makes no call"
      ),
      .oneInput([TargetFlags.header, data, serviceConfig]),
    ],
    examples: [
      Example(#"call localhost:50051 hello.Greeter/Greet -d '{"name": "Ada"}'"#, "Call a method."),
      Example("call localhost:50051 hello.Greeter/Greet --template", "Show the fields of its request."),
      Example("call localhost:50051 chat.Chat/Talk", "Chat: each line that you type is a request."),
      Example(
        "call shop.example shop.Shop/Buy -d @order.json -H @headers.txt -t 3s -v",
        "Call over TLS, with metadata from a file and a deadline, and see how long each phase takes."
      ),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    var target = try Target(arguments)
    let settings = try CallSettings(arguments, of: target)
    let clock = arguments.has(verbose) ? PhaseClock() : nil
    if let clock { target.options.onConnectionPhase = { clock.note($0) } }
    target.options.serviceConfig = settings.serviceConfig?.parsed
    let watch = clock.map { AttemptWatch($0) }
    target.options.observer = watch
    let channel = try target.channel()
    let source = try SchemaSource(arguments, target, channel, deadline: settings.options.timeout)
    let (schema, method) = try await find(arguments.operand(1) ?? "", in: source)
    watch?.follow(method)
    settings.serviceConfig?.warn(calling: method, of: schema)
    clock?.note("schema", SchemaSource.isInFiles(arguments) ? "from files" : "by reflection")
    if arguments.has(template) {
      guard let type = try schema.dynamicMethod(method).requests.kind.table else {
        throw Failure(
          "the requests of \(method.path) are not protobuf, so that only the server knows what they have",
          code: .usage
        )
      }
      switch settings.format {
      case .json:
        let text = RequestTemplate(of: type).text
        try Output.write(JSONPainter(Painter(Terminal.current()), isPretty: true).text(of: Array(text.utf8)))
      case .text:
        try Output.write(ShownText(lines: TextRequestTemplate(of: type).text, as: .proto), end: "")
      }
      return .success
    }
    let runner = CallRunner(
      target: target,
      channel: channel,
      source: source,
      schema: schema,
      method: method,
      settings: settings,
      clock: clock,
      attempts: watch
    )
    return try await runner.run()
  }

  /// The method that the user names.
  static func find(_ name: String, in source: SchemaSource) async throws -> (Schema, SchemaMethod) {
    guard let parts = SchemaMethod.parts(of: name) else {
      throw await aboutService(name, in: source) ?? notMethod(name)
    }
    let schema: Schema
    do {
      schema = try await source.schema(of: parts.service)
    } catch let failure as Failure where failure.code == .status(.notFound) {
      throw await aboutService(name, in: source) ?? failure
    }
    if let method = schema.method(named: name) { return (schema, method) }
    guard let service = schema.service(named: parts.service) else {
      let kind = schema.symbol(named: parts.service)?.kind.rawValue ?? "name"
      throw Failure("\(parts.service) is not a service but a \(kind)", code: .usage)
    }
    let names = service.methods.map(\.name)
    let near = NearNames(of: parts.method, in: names).names
    throw Failure(
      "\(parts.service) has no method '\(parts.method)'",
      hints: near.isEmpty
        ? ["Its methods are \(names.prefix(20).joined(separator: ", "))."]
        : ["Did you mean \(near.joined(separator: " or "))?"],
      code: .status(.notFound)
    )
  }

  private static func notMethod(_ name: String) -> Failure {
    var failure = Failure.usage("METHOD is package.Service/Method, and '\(name)' is not")
    failure.hints = [
      "'switchboard list TARGET' has the names of services, and 'list TARGET SERVICE' those of methods."
    ]
    return failure
  }

  /// The failure for the name of a service where a method is needed; nil for other names.
  private static func aboutService(_ name: String, in source: SchemaSource) async -> Failure? {
    var end = name[...]
    while let last = end.last, last == "/" || last == "." { end.removeLast() }
    // A word without a package is hardly ever a service's name, and not worth a question.
    guard end.contains("."), let found = try? await source.schema(declaring: String(end)),
      let service = found.service(named: String(end))
    else { return nil }
    let methods = service.methods.prefix(20).map(\.path)
    return Failure(
      "\(service.fullName) is a service, and METHOD is one of its methods",
      hints: methods.isEmpty ? ["It has none."] : ["They are \(methods.joined(separator: ", "))."],
      code: .usage
    )
  }
}

import SwitchboardDynamic
import SwitchboardOpenAPI

/// The verb `openapi`: writes a document of the services that can be called over HTTP.
enum OpenAPIVerb {
  static let title = Flag(
    "--title",
    value: "TEXT",
    help: "The title of the API; the default is the names of its services."
  )
  static let version = Flag(
    "--api-version",
    value: "TEXT",
    help: "The version of the API; the default is 1.0.0."
  )
  static let server = Flag("--server", value: "URL", repeats: true, help: "A URL at which the API is served.")
  static let security = Flag(
    "--security",
    value: "SCHEME",
    repeats: true,
    completion: .words(["bearer", "basic", "apiKey:"]),
    help: "How clients authenticate: bearer, basic or apiKey:HEADER."
  )
  static let output = Flag(
    "-o",
    "--output",
    value: "FILE",
    completion: .file,
    help: "Write the document to this file, and not to standard output."
  )
  static let protoNames = Flag(
    "--proto-names",
    help: "Use the field names of the .proto file instead of their JSON names."
  )

  static let verb = Verb(
    "openapi",
    summary: "write an OpenAPI 3.1 document of methods with google.api.http rules",
    usage: ["TARGET [FLAG]...", "--proto FILE [-I DIR]... [FLAG]...", "--descriptor-set FILE [FLAG]..."],
    details: [
      "Comments become descriptions, if the descriptors have them: those of .proto files do, those of most servers do "
        + "not. google.api.field_behavior says which fields are required or read-only."
    ],
    operands: [
      Operand(
        "TARGET",
        isOptional: true,
        "The server: HOST[:PORT], unix:PATH, or any gRPC target; also URLs without a path."
      )
    ],
    flags: [
      FlagGroup("Document", [output, title, version, server, security, protoNames]), SchemaFlags.group,
      TargetFlags.group,
    ],
    examples: [
      Example(
        "openapi --proto shop.proto -I protos --security bearer -o shop.json",
        "A document of a file's services."
      ),
      Example("openapi localhost:50051", "A document of a server's services."),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    var options = OpenAPIOptions()
    if let title = arguments[title] { options.title = title }
    if let version = arguments[version] { options.version = version }
    options.servers = arguments.all(server)
    for scheme in arguments.all(security) {
      guard let known = OpenAPIOptions.Security(scheme) else {
        throw Failure.usage("--security is bearer, basic or apiKey:HEADER, not '\(scheme)'")
      }
      options.security.append(known)
    }
    options.usesProtoFieldNames = arguments.has(protoNames)
    let file = try arguments[output].map { path in try OutputPath(path) }
    let request = try SchemaRequest(arguments, of: "openapi")
    defer { request.close() }
    if let symbol = request.symbol {
      throw Failure.usage("unexpected argument: '\(symbol)': the document has all services", verb: "openapi")
    }
    let schema = try await request.source.wholeSchema()
    let document: OpenAPIDocument
    do throws(HTTPRuleError) {
      document = try OpenAPIDocument(
        files: try serialized(schema),
        services: Set(schema.services.map(\.fullName)),
        options: options
      )
    } catch {
      throw Failure("\(error)", code: .data)
    }
    for warning in document.warnings { Output.warn("\(warning)") }
    if let file {
      try file.write(Array(document.json.utf8))
      return .success
    }
    // The document already ends with a line feed.
    try Output.write(ShownText(lines: document.json, as: .json), end: "")
    return .success
  }

  private static func serialized(_ schema: Schema) throws(HTTPRuleError) -> [[UInt8]] {
    var files: [[UInt8]] = []
    do {
      for file in schema.files { files.append(try file.serializedBytes()) }
    } catch {
      throw HTTPRuleError("invalid descriptor: \(error)")
    }
    return files
  }
}

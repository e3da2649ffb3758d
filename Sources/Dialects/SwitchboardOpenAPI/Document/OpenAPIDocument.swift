import SwitchboardDescriptors
import SwitchboardProtobuf

/// A document of OpenAPI 3.1 for the methods that are called over HTTP by the rules of `google/api/http.proto`.
///
/// A method whose messages are not protobuf, as a server's reflection marks it, has no rule that works: the document has
/// its path of Connect, with the media type of its own format.
///
///     let document = try OpenAPIDocument(files: descriptors)
///     print(document.json)
public struct OpenAPIDocument: Sendable {
  /// The document in JSON.
  public let json: String
  /// What is hardly meant in the rules, or that the document is empty because no method has one, or messages that are not
  /// protobuf.
  package let warnings: [String]

  /// Describes the services in `files`: serialized descriptors, including those of all imports. The document contains
  /// comments if the descriptors do.
  public init(
    files: [[UInt8]],
    services: Set<String>? = nil,
    rules: [HTTPRule] = [],
    options: OpenAPIOptions = OpenAPIOptions()
  ) throws(HTTPRuleError) {
    if let server = options.servers.first(where: OpenAPIOptions.lacksScheme) {
      throw .serverWithoutScheme(server)
    }
    let api = try DescribedAPI(files: files, services: services, rules: rules)
    let isEmpty = !api.methods.contains(where: \.isDescribed)
    warnings =
      api.doubts
      + (isEmpty ? ["no method has a rule of google.api.http: the document has no paths"] : [])
    var writer = try DocumentWriter(api, options)
    json = try writer.document().text
  }

  /// Describes the files to generate in a protoc plugin's request.
  package init(request: [UInt8], options: OpenAPIOptions) throws(HTTPRuleError) {
    let decoded: Google_Protobuf_Compiler_CodeGeneratorRequest
    var files: [[UInt8]] = []
    do {
      decoded = try Google_Protobuf_Compiler_CodeGeneratorRequest(serializedBytes: request)
      for file in decoded.protoFile { files.append(try file.serializedBytes()) }
    } catch {
      throw HTTPRuleError("invalid request: \(error)")
    }
    let named = Set(decoded.fileToGenerate)
    var services: Set<String> = []
    for file in decoded.protoFile where named.contains(file.name) {
      for service in file.service {
        services.insert(file.package.isEmpty ? service.name : "\(file.package).\(service.name)")
      }
    }
    try self.init(files: files, services: services, options: options)
  }
}

extension HTTPRuleError {
  fileprivate static func serverWithoutScheme(_ url: String) -> HTTPRuleError {
    HTTPRuleError(
      "the server \"\(url)\" has no scheme, so it would be a path relative to the document: write \"https://\(url)\", or "
        + "\"./\(url)\" for the path"
    )
  }
}

/// Builds a document: the paths, and the schemas that they refer to.
struct DocumentWriter {
  let api: DescribedAPI
  let options: OpenAPIOptions
  let types: DeclaredTypes
  let comments: [FileComments]
  /// The schemas that are referred to, in the order of the first reference, and how many of them are written.
  private var mentioned: [String] = []
  private var known: Set<String> = []
  private var operationIDs: Set<String> = []

  init(_ api: DescribedAPI, _ options: OpenAPIOptions) throws(HTTPRuleError) {
    self.api = api
    self.options = options
    types = DeclaredTypes(api.files)
    comments = api.files.map(FileComments.init)
  }

  /// Refers to a schema, which is written later.
  mutating func reference(_ name: String) -> JSONTree {
    if known.insert(name).inserted { mentioned.append(name) }
    return ["$ref": .string("#/components/schemas/\(name)")]
  }

  /// The ID of an operation. That of a service in another package may have the same short name.
  mutating func operationID(_ method: DescribedAPI.Method, _ index: Int) -> String {
    let service = method.service.split(separator: ".").last.map(String.init) ?? method.service
    let suffix = index > 0 ? "_\(index + 1)" : ""
    var name = "\(service)_\(method.descriptor.name)" + suffix
    if operationIDs.contains(name) {
      name = method.fullName.split(separator: ".").joined(separator: "_") + suffix
    }
    while !operationIDs.insert(name).inserted { name += "_" }
    return name
  }

  mutating func document() throws(HTTPRuleError) -> JSONTree {
    let services = api.methods.filter(\.isDescribed).reduce(into: [String]()) { names, method in
      if names.last != method.service { names.append(method.service) }
    }
    let paths = try paths()
    var schemas: [JSONTree.Member] = []
    var written = 0
    while written < mentioned.count {
      schemas.append(JSONTree.Member(name: mentioned[written], value: schema(named: mentioned[written])))
      written += 1
    }
    schemas.sort { $0.name < $1.name }
    let title = options.title.isEmpty ? services.joined(separator: ", ") : options.title
    let info: JSONTree = ["title": .string(title), "version": .string(options.version)]
    let servers = options.servers.map { JSONTree.object([.init(name: "url", value: .string($0))]) }
    let schemes = options.security.map(\.scheme)
    let components: JSONTree = ["schemas": .object(schemas)]
    return JSONTree.object([
      .init(name: "openapi", value: "3.1.0"),
      .init(
        name: "info",
        value: info.adding(["description": options.description.isEmpty ? nil : .string(options.description)])
      ),
    ]).adding([
      "servers": servers.isEmpty ? nil : .array(servers),
      "tags": .array(services.map(tag)),
      "paths": paths,
      "components": components.adding(["securitySchemes": schemes.isEmpty ? nil : .object(schemes)]),
      "security": schemes.isEmpty
        ? nil : .array(schemes.map { .object([.init(name: $0.name, value: [])]) }),
    ])
  }

  private func tag(_ service: String) -> JSONTree {
    let tag: JSONTree = ["name": .string(service)]
    guard let method = api.methods.first(where: { $0.service == service }) else { return tag }
    return tag.adding([
      "description": comments[method.file].text(Array(method.path.prefix(2))).map { .string($0.text) }
    ])
  }
}

extension OpenAPIOptions.Security {
  fileprivate var scheme: JSONTree.Member {
    switch self {
    case .bearer: .init(name: "bearer", value: ["type": "http", "scheme": "bearer"])
    case .basic: .init(name: "basic", value: ["type": "http", "scheme": "basic"])
    case .apiKey(let header):
      .init(name: "apiKey", value: ["type": "apiKey", "in": "header", "name": .string(header)])
    }
  }
}

import Switchboard
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// The source of descriptors: files, or the server itself.
///
///     let source = try SchemaSource(arguments, target)
///     let schema = try await source.schema(of: "shop.Shop")
///
/// A source lists services by name and finds the files that declare a symbol. Its results are not trusted; a ``Schema``
/// validates them.
enum SchemaSource: Sendable {
  /// All files, from `.proto` sources or descriptor sets.
  case files(Schema)
  /// The reflection service of the server.
  case reflection(ReflectionClient)

  /// Whether the flags name files, so that no server is needed.
  static func isInFiles(_ arguments: Arguments) -> Bool {
    arguments.has(SchemaFlags.proto) || arguments.has(SchemaFlags.descriptorSet)
  }

  /// The source that the flags name: files, or else the server behind `channel`.
  init(_ arguments: Arguments, _ target: Target, _ channel: Channel, deadline: Duration? = nil) throws {
    if let files = try Self.files(arguments) {
      self = files
    } else {
      self = .reflection(ReflectionClient(target, channel, deadline: deadline))
    }
  }

  /// The files that the flags name; nil if they name none.
  static func files(_ arguments: Arguments) throws -> SchemaSource? {
    guard isInFiles(arguments) else {
      if arguments.has(SchemaFlags.include) { throw Failure.usage("-I needs --proto FILE") }
      return nil
    }
    var files: [Google_Protobuf_FileDescriptorProto] = []
    let sources = arguments.all(SchemaFlags.proto)
    if sources.isEmpty, arguments.has(SchemaFlags.include) { throw Failure.usage("-I needs --proto FILE") }
    if !sources.isEmpty {
      files += try SchemaFiles.compile(sources, includes: arguments.all(SchemaFlags.include))
    }
    for path in arguments.all(SchemaFlags.descriptorSet) { files += try SchemaFiles.descriptorSet(path) }
    return .files(try Schema(files))
  }

  /// The full names of all services, sorted.
  func services() async throws -> [String] {
    switch self {
    case .files(let schema): schema.services.map(\.fullName)
    case .reflection(let client): try await client.services().sorted()
    }
  }

  /// Everything that the source contains. For a server, the files of all its services.
  func wholeSchema() async throws -> Schema {
    switch self {
    case .files(let schema): return schema
    case .reflection(let client):
      return try await client.schema(of: try await client.services())
    }
  }

  /// The files that declare a symbol and everything that they import.
  func schema(of symbol: String) async throws -> Schema {
    switch self {
    case .files(let schema):
      guard schema.symbol(named: symbol) != nil else { throw await unknown(symbol) }
      return schema
    case .reflection(let client):
      guard let schema = try await schema(of: symbol, from: client) else { throw await unknown(symbol) }
      return schema
    }
  }

  /// The same for a name from a server; nil if there is no such symbol.
  func schema(declaring name: String) async throws -> Schema? {
    guard name.utf8.count <= 1000 else { return nil }
    return switch self {
    case .files(let schema): schema.symbol(named: name) == nil ? nil : schema
    case .reflection(let client): try await schema(of: name, from: client)
    }
  }

  /// How often a name is shortened: more often than declarations are nested in practice. The limit is for names from
  /// servers.
  private static let mostParts = 12

  private func schema(of symbol: String, from client: ReflectionClient) async throws -> Schema? {
    // Some servers find only some kinds of symbols. For other kinds, look up the enclosing symbol.
    var name = symbol[...]
    for _ in 0..<Self.mostParts {
      do {
        let schema = try await client.schema(of: [String(name)])
        if name == symbol[...] || schema.symbol(named: symbol) != nil { return schema }
      } catch is ReflectionClient.UnknownSymbol {}
      guard let dot = name.lastIndex(of: ".") else { return nil }
      name = name[..<dot]
    }
    return nil
  }

  /// The failure for a symbol that does not exist. It suggests similar names.
  private func unknown(_ symbol: String) async -> Failure {
    if let failure = await withoutDescriptors(symbol) { return failure }
    var known: [String] = []
    if case .files(let schema) = self {
      known = schema.symbolNames
    } else if let schema = try? await wholeSchema() {
      known = schema.symbolNames
    } else if let services = try? await services() {
      known = services
    }
    let near = NearNames(of: symbol, in: known).names
    var hints: [ShownText] = near.isEmpty ? [] : ["Did you mean \(near.joined(separator: " or "))?"]
    if near.isEmpty, !known.isEmpty { hints.append("'switchboard list' has the names of the services.") }
    return Failure(message(unknown: symbol), hints: hints, code: .status(.notFound))
  }

  /// The failure for a service that the server has, but does not describe.
  private func withoutDescriptors(_ symbol: String) async -> Failure? {
    guard case .reflection(let client) = self, let services = try? await services(),
      services.contains(where: { $0.utf8.elementsEqual(symbol.utf8) })
    else { return nil }
    return Failure(
      "\(client.server.text) has the service '\(symbol)', but no descriptors of it",
      hints: ["'--proto FILE' or '--descriptor-set FILE' take the descriptors from files."],
      code: .status(.notFound)
    )
  }

  private func message(unknown symbol: String) -> ShownText {
    switch self {
    case .files: "the files do not declare '\(symbol)'"
    case .reflection(let client): "\(client.server.text) does not know '\(symbol)'"
    }
  }
}

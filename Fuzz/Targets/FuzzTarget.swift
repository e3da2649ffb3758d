/// Code that reads untrusted bytes; each target has a corpus of the same name.
enum FuzzTarget: String, CaseIterable, Sendable {
  case wire, json, text, fieldMask, descriptors
  case deframer, metadata, encodings, timeout, target, http1, names, proxy
  case connectQuery, connectError, decompression, http1Response
  case server, web, client, services, shortcuts
  case tls, secure
  case serviceConfig, loadReport, generator, mappings, plugin, schema
  case trace, collector
  case restPath, restQuery
  case mockRules, payloads, loadMessages
  case xdsListener, xdsRoutes, xdsCluster, xdsEndpoints, xdsBootstrap, pattern

  /// Passes `input` to the code. Throws if the code breaks an invariant.
  func run(_ input: [UInt8]) throws {
    switch self {
    case .wire: try MessageTargets.wire(input)
    case .json: try MessageTargets.json(input)
    case .text: try MessageTargets.text(input)
    case .fieldMask: try FieldMaskTarget.run(input)
    case .descriptors: try DescriptorsTarget.run(input)
    case .deframer: try CallTargets.deframer(input)
    case .metadata: try CallTargets.metadata(input)
    case .encodings: try EncodingTargets.run(input)
    case .timeout: try CallTargets.timeout(input)
    case .target: try CallTargets.target(input)
    case .http1: try HTTP1Target.run(input)
    case .connectQuery: try ConnectTargets.query(input)
    case .connectError: try ConnectTargets.error(input)
    case .decompression: try ConnectTargets.decompression(input)
    case .http1Response: try HTTP1ResponseTarget.run(input)
    case .names: try NamesTarget.run(input)
    case .proxy: try ProxyTarget.run(input)
    case .server: try ServerUnderFuzz.shared.run(input)
    case .web: try ServerUnderFuzz.ofPages.run(input)
    case .client: try ClientUnderFuzz.shared.run(input)
    case .shortcuts: try ShortcutsTarget.run(input)
    case .services: try ServicesUnderFuzz.shared.run(input)
    case .tls: try TLSTarget.run(input)
    case .secure: try SecureUnderFuzz.shared.run(input)
    case .serviceConfig: try ConfigurationTargets.serviceConfig(input)
    case .loadReport: try LoadReportTarget.run(input)
    case .generator: try GeneratorTarget.run(input)
    case .mappings: try ConfigurationTargets.mappings(input)
    case .schema: SchemaTarget.run(input)
    case .plugin: try PluginUnderFuzz.shared.run(input)
    case .trace: try TelemetryTargets.trace(input)
    case .collector: try TelemetryTargets.collector(input)
    case .restPath: try RESTTargets.path(input)
    case .restQuery: try RESTTargets.query(input)
    case .mockRules: try MockRulesTarget.run(input)
    case .payloads: try LoadTargets.payloads(input)
    case .loadMessages: try LoadTargets.messages(input)
    case .xdsListener: try MeshTargets.listener(input)
    case .xdsRoutes: try MeshTargets.routes(input)
    case .xdsCluster: try MeshTargets.cluster(input)
    case .xdsEndpoints: try MeshTargets.endpoints(input)
    case .xdsBootstrap: try MeshTargets.bootstrap(input)
    case .pattern: try MeshTargets.pattern(input)
    }
  }
}

/// An invariant that must hold for every input was broken.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String

  static func unless(_ holds: Bool, _ description: @autoclosure () -> String) throws(BrokenPromise) {
    if !holds { throw BrokenPromise(description: description()) }
  }
}

/// What reads bytes from outside, each with a corpus of its name.
enum FuzzTarget: String, CaseIterable, Sendable {
  case wire, json, text
  case deframer, metadata, encodings, timeout, target, http1
  case server, web, client
  case tls, secure
  case serviceConfig, generator, mappings, plugin

  /// Reads `input` as the target's code would. Any answer will do, but for one that the code rules out.
  func run(_ input: [UInt8]) throws {
    switch self {
    case .wire: try MessageTargets.wire(input)
    case .json: try MessageTargets.json(input)
    case .text: try MessageTargets.text(input)
    case .deframer: try CallTargets.deframer(input)
    case .metadata: try CallTargets.metadata(input)
    case .encodings: try EncodingTargets.run(input)
    case .timeout: try CallTargets.timeout(input)
    case .target: try CallTargets.target(input)
    case .http1: try HTTP1Target.run(input)
    case .server: try ServerUnderFuzz.shared.run(input)
    case .web: try ServerUnderFuzz.ofPages.run(input)
    case .client: try ClientUnderFuzz.shared.run(input)
    case .tls: try TLSTarget.run(input)
    case .secure: try SecureUnderFuzz.shared.run(input)
    case .serviceConfig: try ConfigurationTargets.serviceConfig(input)
    case .generator: try GeneratorTarget.run(input)
    case .mappings: try ConfigurationTargets.mappings(input)
    case .plugin: try PluginUnderFuzz.shared.run(input)
    }
  }
}

/// Something holds no more that must hold whatever the input.
struct BrokenPromise: Error, CustomStringConvertible {
  let description: String

  static func unless(_ holds: Bool, _ description: @autoclosure () -> String) throws(BrokenPromise) {
    if !holds { throw BrokenPromise(description: description()) }
  }
}

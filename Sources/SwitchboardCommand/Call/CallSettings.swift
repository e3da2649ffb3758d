import Switchboard
import SwitchboardToolSupport

/// The settings of one call, from the flags of `call`.
struct CallSettings: Sendable {
  let data: RequestData
  let format: CallVerb.Format
  let isPretty: Bool
  let emitsDefaults: Bool
  let options: CallOptions
  let serviceConfig: ServiceConfig?

  /// The settings for calls of a server that `target` names.
  init(_ arguments: Arguments, of target: Target) throws(Failure) {
    data = try RequestData(arguments[CallVerb.data])
    format = try arguments.choice(CallVerb.format) ?? .json
    if arguments.has(CallVerb.compact), arguments.has(CallVerb.pretty) {
      throw .usage("--compact and --pretty contradict each other")
    }
    isPretty =
      arguments.has(CallVerb.pretty)
      || !arguments.has(CallVerb.compact) && Terminal.current().isTerminal
    emitsDefaults = arguments.has(CallVerb.emitDefaults)
    var options = CallOptions()
    if let deadline = try arguments.duration(CallVerb.deadline) { options.timeout = deadline }
    if let name = arguments[CallVerb.compress] {
      guard let compression = MessageCompression(rawValue: name) else {
        throw .usage("--compress needs gzip, deflate, zstd or br, not '\(name)'")
      }
      options.compression = compression
    }
    options.waitForReady = arguments.has(CallVerb.waitForReady)
    options.initialMetadata = target.metadata
    self.options = options
    serviceConfig = try arguments[CallVerb.serviceConfig].map(Self.serviceConfig)
  }

  private static func serviceConfig(_ text: String) throws(Failure) -> ServiceConfig {
    var json = text
    if text.hasPrefix("@") {
      do {
        json = String(decoding: try readFile(String(text.dropFirst())), as: UTF8.self)
      } catch {
        throw .unreadable(error)
      }
    }
    do {
      return try ServiceConfig(json: json)
    } catch {
      throw .usage("--service-config: \(error.message ?? "\(error)")")
    }
  }
}

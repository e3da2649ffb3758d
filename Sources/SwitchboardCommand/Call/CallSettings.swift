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
    if let compression = try Self.compression(arguments) { options.compression = compression }
    options.waitForReady = arguments.has(CallVerb.waitForReady)
    options.initialMetadata = target.metadata
    self.options = options
    serviceConfig = try Self.serviceConfig(arguments)?.parsed
  }

  /// How `--compress` has requests compressed.
  static func compression(_ arguments: Arguments) throws(Failure) -> MessageCompression? {
    guard let name = arguments[CallVerb.compress] else { return nil }
    guard let compression = MessageCompression(rawValue: name) else {
      throw .usage("--compress needs gzip, deflate, zstd or br, not '\(name)'")
    }
    return compression
  }

  /// What else the user may have meant by a text that is not a config.
  private static func hint(for text: String) -> ShownText? {
    let path = text.hasPrefix("@") ? String(text.dropFirst()) : text
    if !text.hasPrefix("@"), !text.contains("{"), !text.contains("\n") {
      return "To read it from the file '\(text)', write --service-config @\(text)"
    }
    return text.hasPrefix("@") ? "'switchboard check-config \(path)' shows all that is wrong with it." : nil
  }

  /// What `--service-config` says, as it is written and as it is understood.
  static func serviceConfig(
    _ arguments: Arguments
  ) throws(Failure) -> (json: String, parsed: ServiceConfig)? {
    guard let text = arguments[CallVerb.serviceConfig] else { return nil }
    var json = text
    if text.hasPrefix("@") {
      do {
        json = String(decoding: try readFile(String(text.dropFirst())), as: UTF8.self)
      } catch {
        throw .unreadable(error)
      }
    }
    do {
      return (json, try ServiceConfig(json: json))
    } catch {
      var failure = Failure.usage("--service-config: \(error.message ?? "\(error)")")
      if let hint = hint(for: text) { failure.hints = [hint] }
      throw failure
    }
  }
}

import Switchboard

/// The settings of one call, from the flags of `call`.
struct CallSettings: Sendable {
  /// The requests; nil if there is no `-d`.
  let data: TextOrFile?
  let format: CallVerb.Format
  let isPretty: Bool
  let emitsDefaults: Bool
  let options: CallOptions
  let serviceConfig: ServiceConfigArgument?

  /// The settings for calls of a server that `target` names.
  init(_ arguments: Arguments, of target: Target) throws(Failure) {
    data = try arguments.textOrFile(CallVerb.data)
    format = try arguments.choice(CallVerb.format) ?? .json
    if arguments.has(CallVerb.compact), arguments.has(CallVerb.pretty) {
      throw .usage("--compact and --pretty contradict each other")
    }
    isPretty =
      arguments.has(CallVerb.pretty)
      || !arguments.has(CallVerb.compact) && Terminal.current().isTerminal
    emitsDefaults = arguments.has(CallVerb.emitDefaults)
    guard !emitsDefaults || format == .json else {
      throw .usage("--emit-defaults is of JSON, and --format is text")
    }
    var options = CallOptions()
    if let deadline = try arguments.duration(CallVerb.deadline) { options.timeout = deadline }
    if let compression = try Self.compression(arguments) { options.compression = compression }
    options.waitForReady = arguments.has(CallVerb.waitForReady)
    if options.waitForReady == true, arguments.has(TargetFlags.connectTimeout), options.timeout == nil {
      Output.warn(
        "\(CallVerb.waitForReady.name) goes on after \(TargetFlags.connectTimeout.name): only --deadline ends the call"
      )
    }
    options.initialMetadata = target.metadata
    self.options = options
    serviceConfig = try ServiceConfigArgument(arguments)
  }

  /// How `--compress` has requests compressed.
  static func compression(_ arguments: Arguments) throws(Failure) -> MessageCompression? {
    guard let name = arguments[CallVerb.compress] else { return nil }
    guard let compression = MessageCompression(rawValue: name) else {
      throw .usage("--compress needs gzip, deflate, zstd or br, not '\(name)'")
    }
    return compression
  }
}

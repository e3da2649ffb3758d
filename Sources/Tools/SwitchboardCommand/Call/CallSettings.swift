import Switchboard

/// The settings of one call, from the flags of `call`.
struct CallSettings: Sendable {
  /// The requests; nil if there is no `-d`.
  let data: TextOrFile?
  let format: CallVerb.Format
  let isPretty: Bool
  let emitsDefaults: Bool
  let options: CallOptions
  let serviceConfig: ServiceConfig?

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

  /// What `--service-config` says, as it is written and as it is understood.
  static func serviceConfig(
    _ arguments: Arguments
  ) throws(Failure) -> (json: String, parsed: ServiceConfig)? {
    let flag = CallVerb.serviceConfig
    guard let source = try arguments.textOrFile(flag) else { return nil }
    let json = String(decoding: try source.bytes(), as: UTF8.self)
    do {
      let parsed = try ServiceConfig(json: json)
      for remark in ConfigRemark.all(in: json) where remark.isMistake {
        Output.warn("\(source.place(flag)): \(remark.shown)")
      }
      return (json, parsed)
    } catch {
      var failure = Failure("\(source.place(flag)): \(error.message ?? "\(error)")", code: .data)
      failure.hints = source.hints(for: flag)
      if case .file(let path) = source {
        failure.hints = ["'switchboard check-config \(path)' shows all that is wrong with it."]
      }
      throw failure
    }
  }
}

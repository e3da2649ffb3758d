/// Options of a call.
enum OptionRules {
  static let all = constructions + limits + members

  private static let constructions: [Rule] = [
    .change("CallOptions(customMetadata: $metadata)", to: "CallOptions(initialMetadata: $metadata)"),
    .change("CallOptions(timeLimit: .timeout($time))", to: "CallOptions(timeout: $time)"),
    .change("CallOptions(timeLimit: .none)", to: "CallOptions(timeout: CallOptions.noTimeout)"),
    .change(
      "CallOptions(customMetadata: $metadata, timeLimit: .timeout($time))",
      to: "CallOptions(timeout: $time, initialMetadata: $metadata)"
    ),
    .change(
      "CallOptions(customMetadata: $metadata, timeLimit: .none)",
      to: "CallOptions(timeout: CallOptions.noTimeout, initialMetadata: $metadata)"
    ),
    .advise(
      "CallOptions(customMetadata",
      "The initializer has timeout:, initialMetadata:, waitForReady:, compression:, responseSizeLimit:, in this order; set other options on the value."
    ),
    .advise(
      "CallOptions(timeLimit",
      "The initializer has timeout:, initialMetadata:, waitForReady:, compression:, responseSizeLimit:, in this order; set other options on the value."
    ),
    .advise(
      "CallOptions(messageEncoding",
      "Use compression: .gzip. Compressed responses are always accepted."
    ),
    .advise(
      "CallOptions(logger",
      "Set 'logger' on the value, to a Logger of this package (for swift-log's: docs/guide/Telemetry.md, 'Bridges')."
    ),
    .advise("CallOptions(cacheable", "Set safety = .cacheableRequest."),
    .advise(
      "CallOptions(requestIDProvider",
      "Use a field of initialMetadata, or an interceptor of the channel."
    ),
    .advise("CallOptions(eventLoopPreference", "Use the 'group:' of the channel."),
  ]

  private static let limits: [Rule] = [
    .change(".timeLimit = .timeout($time)", to: ".timeout = $time"),
    .change(".timeLimit = .none", to: ".timeout = CallOptions.noTimeout"),
    .advise(".timeLimit", "Use 'timeout', a Duration: for a deadline, what is left until then."),
    .advise("TimeLimit", "Use a Duration: 'timeout'."),
    .advise("TimeAmount", "Use a Duration, which has no minutes and hours: .seconds(300)."),
    .advise("NIODeadline", "Use a ContinuousClock.Instant, or a Duration from now."),
  ]

  private static let members: [Rule] = [
    .change(".customMetadata", to: ".initialMetadata"),
    .change(".messageEncoding = .disabled", to: ".compression = .none"),
    .advise(".messageEncoding", "Use compression = .gzip. Compressed responses are always accepted."),
    .advise(".requestIDProvider", "Use a field of initialMetadata, or an interceptor of the channel."),
    .advise(".cacheable", "Use safety = .cacheableRequest."),
    .advise(".eventLoopPreference", "Use the 'group:' of the channel."),
  ]
}

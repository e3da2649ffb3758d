/// Options of a call.
enum OptionRules {
  static let all = times + constructions + limits + members

  /// Where a time is written, there and here.
  private static let places = [
    ("CallOptions(timeLimit: .timeout(", "))", "CallOptions(timeout: ", ")"),
    (
      "CallOptions(customMetadata: $metadata, timeLimit: .timeout(", "))", "CallOptions(timeout: ",
      ", initialMetadata: $metadata)"
    ),
    (".timeLimit = .timeout(", ")", ".timeout = ", ""),
  ]

  private static let times: [Rule] = places.flatMap { start, end, newStart, newEnd in
    ["seconds", "milliseconds", "microseconds", "nanoseconds"].map { unit in
      .change("\(start).\(unit)($time)\(end)", to: "\(newStart).\(unit)($time)\(newEnd)")
    }
      + [("minutes", 60), ("hours", 3600)].flatMap { unit, seconds in
        [
          .change(
            "\(start).\(unit)($count)\(end)",
            to: "\(newStart).seconds(${count*\(seconds)})\(newEnd)",
            if: .isInteger("count"),
            because: "a Duration has no \(unit)"
          ),
          .advise(
            "\(start).\(unit)(",
            "Use 'timeout', a Duration, which has no minutes and hours: .seconds(\(seconds) * x)."
          ),
        ]
      } + [.advise("\(start)$time\(end)", "Use 'timeout', a Duration in place of a TimeAmount.")]
  }

  private static let constructions: [Rule] = [
    .change("CallOptions(customMetadata: $metadata)", to: "CallOptions(initialMetadata: $metadata)"),
    .change("CallOptions(timeLimit: .none)", to: "CallOptions(timeout: CallOptions.noTimeout)"),
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

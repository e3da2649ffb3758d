/// Options of a call.
enum OptionRules {
  static let all = times + constructions + limits + members

  /// Where a time is written.
  private struct Place {
    let start: String
    let end: String
    let newStart: String
    let newEnd: String
  }

  /// What makes options, and nothing else.
  private static let makers = [
    "CallOptions(", "CallOptions.init(", "CallOptions = .init(", "callOptions: .init(",
  ]
  /// What may make options: it depends on the type.
  private static let implicit = ".init("

  /// Where times are written. The name of the type may be left out.
  private static let places = ["", "TimeLimit"].flatMap { limit in
    makers.flatMap { maker in
      [
        Place(
          start: "\(maker)timeLimit: \(limit).timeout(",
          end: "))",
          newStart: "\(maker)timeout: ",
          newEnd: ")"
        ),
        Place(
          start: "\(maker)customMetadata: $metadata, timeLimit: \(limit).timeout(",
          end: "))",
          newStart: "\(maker)timeout: ",
          newEnd: ", initialMetadata: $metadata)"
        ),
      ]
    } + [Place(start: ".timeLimit = \(limit).timeout(", end: ")", newStart: ".timeout = ", newEnd: "")]
  }

  private static let times: [Rule] = places.flatMap { place in
    times(at: place, of: "") + times(at: place, of: "TimeAmount") + [
      .advise("\(place.start)$time\(place.end)", "Use 'timeout', a Duration in place of a TimeAmount.")
    ]
  }

  private static func times(at place: Place, of type: String) -> [Rule] {
    ["seconds", "milliseconds", "microseconds", "nanoseconds"].map { unit in
      .change(
        "\(place.start)\(type).\(unit)($time)\(place.end)",
        to: "\(place.newStart).\(unit)($time)\(place.newEnd)"
      )
    }
      + [("minutes", 60), ("hours", 3600)].flatMap { unit, seconds in
        [
          .change(
            "\(place.start)\(type).\(unit)($count)\(place.end)",
            to: "\(place.newStart).seconds(${count*\(seconds)})\(place.newEnd)",
            if: .isInteger("count"),
            because: "a Duration has no \(unit)"
          ),
          .advise(
            "\(place.start)\(type).\(unit)(",
            "Use 'timeout', a Duration, which has no minutes and hours: .seconds(\(seconds) * x)."
          ),
        ]
      }
  }

  private static let constructions: [Rule] =
    makers.flatMap { maker in
      [
        .change("\(maker)customMetadata: $metadata)", to: "\(maker)initialMetadata: $metadata)"),
        .change("\(maker)timeLimit: .none)", to: "\(maker)timeout: CallOptions.noTimeout)"),
        .change(
          "\(maker)customMetadata: $metadata, timeLimit: .none)",
          to: "\(maker)timeout: CallOptions.noTimeout, initialMetadata: $metadata)"
        ),
      ]
    }
    + (makers + [implicit]).flatMap { maker in
      [
        .advise("\(maker)customMetadata", initializer),
        .advise("\(maker)timeLimit", initializer),
        .advise(
          "\(maker)messageEncoding",
          "Use compression: .gzip. Compressed responses are always accepted."
        ),
        .advise("\(maker)cacheable", "Set safety = .cacheableRequest."),
        .advise(
          "\(maker)requestIDProvider",
          "Use a field of initialMetadata, or an interceptor of the channel."
        ),
        .advise("\(maker)eventLoopPreference", "Use the 'group:' of the channel."),
      ]
    } + [
      .advise(
        "CallOptions(logger",
        "Set 'logger' on the value, to a Logger of this package (for swift-log's: docs/guide/Telemetry.md, 'Bridges')."
      )
    ]

  private static let initializer =
    "The initializer has timeout:, initialMetadata:, waitForReady:, compression:, responseSizeLimit:, in this order; set other options on the value."

  private static let limits: [Rule] = [
    .change(".timeLimit = .none", to: ".timeout = CallOptions.noTimeout"),
    .advise(".timeLimit =", "Use 'timeout', a Duration: for a deadline, what is left until then."),
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

extension Google_Protobuf_Duration {
  /// A duration of `seconds` and `nanos`, which have the same sign.
  public init(seconds: Int64, nanos: Int32 = 0) {
    self.init()
    self.seconds = seconds
    self.nanos = nanos
  }

  /// The duration as protobuf has it, without what is less than a nanosecond.
  public init(_ duration: Swift.Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000))
  }

  init(_ time: Nanoseconds) { self.init(seconds: time.towardsZero.seconds, nanos: time.towardsZero.nanos) }

  /// Whether the duration is of 10,000 years at most and both fields have the same sign; others have no form in JSON.
  public var isValid: Bool {
    -315_576_000_000...315_576_000_000 ~= seconds && -999_999_999...999_999_999 ~= nanos
      && (seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0))
  }

  /// The same duration with both fields of the same sign, and `nanos` of less than a second.
  public var normalized: Google_Protobuf_Duration { Google_Protobuf_Duration(exact) }

  var exact: Nanoseconds { Nanoseconds(seconds: seconds, nanos: nanos) }
}

extension Google_Protobuf_Duration: Comparable {
  /// Whether the left duration is shorter, where negative ones are shorter than none.
  public static func < (left: Google_Protobuf_Duration, right: Google_Protobuf_Duration) -> Bool {
    left.exact < right.exact
  }

  /// The sum, normalized. What the type cannot hold ends at the limit.
  public static func + (
    left: Google_Protobuf_Duration,
    right: Google_Protobuf_Duration
  ) -> Google_Protobuf_Duration {
    Google_Protobuf_Duration(Nanoseconds(total: left.exact.total + right.exact.total))
  }

  /// The difference, normalized. What the type cannot hold ends at the limit.
  public static func - (
    left: Google_Protobuf_Duration,
    right: Google_Protobuf_Duration
  ) -> Google_Protobuf_Duration {
    Google_Protobuf_Duration(Nanoseconds(total: left.exact.total - right.exact.total))
  }

  /// The same duration in the other direction, normalized.
  public static prefix func - (duration: Google_Protobuf_Duration) -> Google_Protobuf_Duration {
    Google_Protobuf_Duration(Nanoseconds(total: -duration.exact.total))
  }
}

extension Swift.Duration {
  /// The duration in a message.
  public init(_ duration: Google_Protobuf_Duration) {
    self = .seconds(duration.seconds) + .nanoseconds(Int64(duration.nanos))
  }
}

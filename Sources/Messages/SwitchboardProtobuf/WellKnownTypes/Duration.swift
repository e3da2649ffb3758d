extension Google_Protobuf_Duration {
  /// A duration of `seconds` and `nanos`, which have the same sign.
  public init(seconds: Int64, nanos: Int32 = 0) {
    self.init()
    self.seconds = seconds
    self.nanos = nanos
  }

  /// Converts a duration, truncated to nanoseconds.
  public init(_ duration: Swift.Duration) {
    let (seconds, attoseconds) = duration.components
    self.init(seconds: seconds, nanos: Int32(attoseconds / 1_000_000_000))
  }

  init(_ time: Nanoseconds) { self.init(seconds: time.towardsZero.seconds, nanos: time.towardsZero.nanos) }

  /// Whether the duration is at most 10,000 years long and both fields have the same sign; others have no JSON form.
  public var isValid: Bool {
    -315_576_000_000...315_576_000_000 ~= seconds && -999_999_999...999_999_999 ~= nanos
      && (seconds == 0 || nanos == 0 || (seconds < 0) == (nanos < 0))
  }

  /// The same duration with both fields of the same sign and less than a second in `nanos`.
  public var normalized: Google_Protobuf_Duration { Google_Protobuf_Duration(exact) }

  var exact: Nanoseconds { Nanoseconds(seconds: seconds, nanos: nanos) }
}

extension Google_Protobuf_Duration: Comparable {
  /// Whether the left duration is less than the right one; negative durations are less than zero.
  public static func < (left: Google_Protobuf_Duration, right: Google_Protobuf_Duration) -> Bool {
    left.exact < right.exact
  }

  /// The sum, normalized. On overflow it is the largest or smallest duration.
  public static func + (
    left: Google_Protobuf_Duration,
    right: Google_Protobuf_Duration
  ) -> Google_Protobuf_Duration {
    Google_Protobuf_Duration(Nanoseconds(total: left.exact.total + right.exact.total))
  }

  /// The difference, normalized. On overflow it is the largest or smallest duration.
  public static func - (
    left: Google_Protobuf_Duration,
    right: Google_Protobuf_Duration
  ) -> Google_Protobuf_Duration {
    Google_Protobuf_Duration(Nanoseconds(total: left.exact.total - right.exact.total))
  }

  /// The negated duration, normalized.
  public static prefix func - (duration: Google_Protobuf_Duration) -> Google_Protobuf_Duration {
    Google_Protobuf_Duration(Nanoseconds(total: -duration.exact.total))
  }
}

extension Swift.Duration {
  /// Converts a duration message.
  public init(_ duration: Google_Protobuf_Duration) {
    self = .seconds(duration.seconds) + .nanoseconds(Int64(duration.nanos))
  }
}

// In JSON: a string with the seconds and an `s`.
extension Google_Protobuf_Duration: CustomJSON {
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    let token = try decoder.reader.stringToken()
    let start = token.range.lowerBound - 1
    var scanner = TimeScanner(try decoder.reader.contents(of: token))
    let isNegative = scanner.take(UInt8(ascii: "-"))
    guard let whole = scanner.number(), let fraction = scanner.fraction(), scanner.take(UInt8(ascii: "s")),
      scanner.isAtEnd
    else { throw decoder.reader.fail("expected a duration such as \"1.5s\"", at: start) }
    seconds = isNegative ? -Int64(whole) : Int64(whole)
    nanos = isNegative ? -fraction : fraction
    guard isValid else { throw decoder.reader.fail("duration out of range", at: start) }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    guard isValid else {
      throw EncodeError(.unrepresentable("a Duration of more than 10,000 years, or with invalid nanos"))
    }
    let sign = seconds < 0 || nanos < 0 ? "-" : ""
    encoder.writer.string("\(sign)\(seconds.magnitude)\(TimeText.fraction(abs(nanos)))s")
  }
}

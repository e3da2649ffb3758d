extension Google_Protobuf_Timestamp {
  /// The time `seconds` after the start of 1970 in UTC, plus `nanos` (0 to 999,999,999).
  public init(seconds: Int64, nanos: Int32 = 0) {
    self.init()
    self.seconds = seconds
    self.nanos = nanos
  }

  /// The time `nanoseconds` after the start of 1970 in UTC.
  public init(nanosecondsSince1970 nanoseconds: Int64) {
    self.init(Nanoseconds(total: Int128(nanoseconds)))
  }

  /// The time `seconds` after the start of 1970 in UTC, to the nearest nanosecond that a `Double` can represent.
  ///
  /// Values out of range become the earliest or latest time; NaN is 1970.
  public init(secondsSince1970 seconds: Double) {
    let whole = seconds.rounded(.down)
    let fraction = whole.isFinite ? ((seconds - whole) * 1e9).rounded() : 0
    let clamped = Int64(exactly: whole) ?? (whole.isNaN ? 0 : whole < 0 ? .min : .max)
    self.init(Nanoseconds(total: Int128(clamped) * Nanoseconds.perSecond + Int128(fraction)))
  }

  init(_ time: Nanoseconds) { self.init(seconds: time.down.seconds, nanos: time.down.nanos) }

  /// The current time by the system's clock.
  public static func now() -> Google_Protobuf_Timestamp {
    let time = SystemClock.now()
    return Google_Protobuf_Timestamp(seconds: time.seconds, nanos: time.nanos)
  }

  /// The nanoseconds since the start of 1970 in UTC, or nil if they do not fit 64 bits (before 1677 and after 2262).
  public var nanosecondsSince1970: Int64? { Int64(exactly: exact.total) }

  /// The seconds since the start of 1970 in UTC, rounded to a `Double`: for current dates, to a quarter of a
  /// microsecond.
  public var secondsSince1970: Double { Double(seconds) + Double(nanos) / 1e9 }

  /// Whether the time is in the years 1 to 9999 and `nanos` from 0 to 999,999,999; others have no JSON form.
  public var isValid: Bool {
    -62_135_596_800...253_402_300_799 ~= seconds && 0...999_999_999 ~= nanos
  }

  /// The same time with `nanos` from 0 to 999,999,999.
  public var normalized: Google_Protobuf_Timestamp { Google_Protobuf_Timestamp(exact) }

  private var exact: Nanoseconds { Nanoseconds(seconds: seconds, nanos: nanos) }
}

extension Google_Protobuf_Timestamp: Comparable {
  /// Whether the left time comes before the right one.
  public static func < (left: Google_Protobuf_Timestamp, right: Google_Protobuf_Timestamp) -> Bool {
    left.exact < right.exact
  }

  /// The time `duration` later, normalized. On overflow it is the latest or earliest time.
  public static func + (
    time: Google_Protobuf_Timestamp,
    duration: Google_Protobuf_Duration
  ) -> Google_Protobuf_Timestamp {
    Google_Protobuf_Timestamp(Nanoseconds(total: time.exact.total + duration.exact.total))
  }

  /// The time `duration` earlier, normalized. On overflow it is the latest or earliest time.
  public static func - (
    time: Google_Protobuf_Timestamp,
    duration: Google_Protobuf_Duration
  ) -> Google_Protobuf_Timestamp {
    Google_Protobuf_Timestamp(Nanoseconds(total: time.exact.total - duration.exact.total))
  }

  /// The duration from the right time to the left one.
  public static func - (
    left: Google_Protobuf_Timestamp,
    right: Google_Protobuf_Timestamp
  ) -> Google_Protobuf_Duration {
    Google_Protobuf_Duration(Nanoseconds(total: left.exact.total - right.exact.total))
  }
}

// In JSON: a string in RFC 3339 form.
extension Google_Protobuf_Timestamp: CustomJSON {
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    let token = try decoder.reader.stringToken()
    let start = token.range.lowerBound - 1
    guard let time = RFC3339.parse(try decoder.reader.contents(of: token)) else {
      throw decoder.reader.fail("expected a time in RFC 3339 format", at: start)
    }
    (seconds, nanos) = (time.seconds, time.nanos)
    guard isValid else { throw decoder.reader.fail("time out of range", at: start) }
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    guard isValid else {
      throw EncodeError(.unrepresentable("a Timestamp outside the years 1 to 9999, or with invalid nanos"))
    }
    encoder.writer.string(RFC3339.text(seconds: seconds, nanos: nanos))
  }
}

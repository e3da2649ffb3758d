import SwitchboardProtobuf
import Testing

/// Timestamps and durations as values.
@Suite struct TimeTests {
  private typealias Timestamp = Google_Protobuf_Timestamp
  private typealias Span = Google_Protobuf_Duration

  @Test func convertsToAndFromNumbers() {
    #expect(Timestamp(nanosecondsSince1970: -1) == Timestamp(seconds: -1, nanos: 999_999_999))
    #expect(Timestamp(nanosecondsSince1970: 1_500_000_000) == Timestamp(seconds: 1, nanos: 500_000_000))
    for value: Int64 in [.min, -1, 0, 1, .max] {
      #expect(Timestamp(nanosecondsSince1970: value).nanosecondsSince1970 == value)
    }
    #expect(Timestamp(seconds: .max).nanosecondsSince1970 == nil)
    #expect(Timestamp(secondsSince1970: -0.25) == Timestamp(seconds: -1, nanos: 750_000_000))
    #expect(Timestamp(secondsSince1970: 1.5).secondsSince1970 == 1.5)
    #expect(Timestamp(secondsSince1970: 0.9999999999) == Timestamp(seconds: 1))
    #expect(Timestamp(secondsSince1970: .infinity).seconds == .max)
    #expect(Timestamp(secondsSince1970: -.infinity).seconds == .min)
    #expect(Timestamp(secondsSince1970: .nan) == Timestamp(seconds: 0))
    #expect(Timestamp(secondsSince1970: 1e300).seconds == .max)
  }

  @Test func returnsTheCurrentTime() {
    let now = Timestamp.now()
    #expect(now.isValid)
    #expect(now > Timestamp(seconds: 1_700_000_000))
    #expect(Timestamp.now() >= now)
  }

  @Test func comparesAndCalculates() {
    let time = Timestamp(seconds: 10, nanos: 900_000_000)
    #expect(time + Span(seconds: 0, nanos: 200_000_000) == Timestamp(seconds: 11, nanos: 100_000_000))
    #expect(time - Span(seconds: 11) == Timestamp(seconds: -1, nanos: 900_000_000))
    #expect(time - Timestamp(seconds: 12) == Span(seconds: -1, nanos: -100_000_000))
    #expect(Timestamp(seconds: 1) < Timestamp(seconds: 1, nanos: 1))
    #expect(Span(seconds: -1, nanos: -5) < Span(seconds: -1))
    #expect(
      Span(seconds: 1, nanos: 600_000_000) + Span(seconds: 0, nanos: 600_000_000)
        == Span(seconds: 2, nanos: 200_000_000)
    )
    #expect(Span(seconds: 1) - Span(seconds: 0, nanos: 1) == Span(seconds: 0, nanos: 999_999_999))
    #expect(-Span(seconds: 1, nanos: 5) == Span(seconds: -1, nanos: -5))
    #expect(Span(seconds: 2, nanos: -500_000_000).normalized == Span(seconds: 1, nanos: 500_000_000))
    #expect(Timestamp(seconds: 0, nanos: -1).normalized == Timestamp(seconds: -1, nanos: 999_999_999))
  }

  @Test func endsAtTheLimitInsteadOfTrapping() {
    let last = Timestamp(seconds: .max, nanos: .max)
    #expect((last + Span(seconds: .max, nanos: .max)).seconds == .max)
    #expect((Timestamp(seconds: .min, nanos: .min) - Span(seconds: .max)).seconds == .min)
    #expect((-Span(seconds: .min, nanos: .min)).seconds == .max)
    #expect((Span(seconds: .min) - Span(seconds: .max)).seconds == .min)
    #expect((last - Timestamp(seconds: .min)).seconds == .max)
    #expect(Swift.Duration(Span(seconds: .max, nanos: .max)) > .seconds(Int64.max))
  }

  @Test func convertsDurations() {
    #expect(Span(.milliseconds(1500)) == Span(seconds: 1, nanos: 500_000_000))
    #expect(Span(.milliseconds(-1500)) == Span(seconds: -1, nanos: -500_000_000))
    #expect(Span(.nanoseconds(1) / 2) == Span(seconds: 0))
    #expect(Swift.Duration(Span(seconds: -1, nanos: -500_000_000)) == .milliseconds(-1500))
  }

  @Test func knowsEveryDayOfTheCalendar() throws {
    // One day of every month of all years, converted both ways.
    for year in stride(from: 1, through: 9999, by: 7) {
      for month in 1...12 {
        let text = "\"\(padded(year, 4))-\(padded(month, 2))-28T12:34:56Z\""
        #expect(try Timestamp(jsonString: text).jsonString() == text)
      }
    }
    #expect(try Timestamp(jsonString: "\"2000-03-01T00:00:00Z\"").seconds == 951_868_800)
    #expect(try Timestamp(jsonString: "\"1600-02-29T00:00:00Z\"").seconds == -11_670_998_400)
  }

  private func padded(_ number: Int, _ width: Int) -> String {
    String(repeating: "0", count: width - String(number).count) + String(number)
  }
}

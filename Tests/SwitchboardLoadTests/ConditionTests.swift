import SwitchboardLoad
import Testing

struct ConditionTests {
  /// A thousand calls of 1 to 1000 ms, ten of which failed.
  private static let tally: LoadTally = {
    var tally = LoadTally()
    for number in 1...1000 as ClosedRange<UInt64> {
      var call = EndedLoadCall(latency: number * 1_000_000)
      if number <= 10 { call.status = .init(code: .unavailable, message: "gone") }
      tally.add(call, at: number * 1_000_000)
    }
    tally.length = 1_000_000_000
    return tally
  }()

  @Test(arguments: [
    ("p99>980ms", true), ("p99>1s", false), ("p50<510ms", true), ("p50<=0.4s", false), ("mean>=500ms", true),
    ("min<2ms", true), ("max>1000ms", false), ("errors>0.9%", true), ("errors>1.1%", false),
    ("errors>9", true),
    ("errors>10", false), ("rate<1001", true), ("rate>=1000/s", true), ("calls>999", true),
    ("p99.9 > 990000 us", true),
  ])
  func conditionsHoldOrNot(_ text: String, _ holds: Bool) throws {
    let condition = try #require(LoadCondition.list(text).first)
    #expect(condition.holds(in: Self.tally) == holds)
  }

  /// A run that no figure can fail checks nothing.
  @Test(arguments: [
    ("errors>100%", false), ("errors>=100%", true), ("errors>=101%", false), ("errors<0%", false),
    ("errors<=0%", true), ("p99<0ms", false), ("min<=0ms", true), ("rate<0", false), ("calls>20", false),
    ("calls>=20", true), ("calls>19", true), ("errors>20", false), ("errors>=20", true), ("p99>1m", true),
    ("rate>1000000", true),
  ]) func whatCannotHoldIsKnown(_ text: String, _ canHold: Bool) throws {
    let condition = try #require(LoadCondition.list(text).first)
    #expect(condition.canHold(ofCalls: 20) == canHold)
    let isCounted = text.hasPrefix("calls") || text.hasPrefix("errors>20")
    #expect(condition.canHold(ofCalls: nil) == (canHold || isCounted))
  }

  @Test func conditionsAreSeparatedByCommas() throws {
    let conditions = try LoadCondition.list("p99>20ms,errors>0.1%")
    #expect(conditions.map(\.metric) == [.percentile(99), .errorPercent])
    #expect(conditions[0].description(in: Self.tally).hasPrefix("p99>20.0 ms: "))
  }

  @Test(arguments: [
    "", "p99", "p99>", "p99>20", "p99=20ms", "p0>1ms", "p101>1ms", "q99>1ms", "errors>x%", "rate>5ms",
    "p99>1ms,",
    "p99>-1ms", "p99>1e3ms", "p99>>1ms", "errors>1.2.3",
  ])
  func invalidConditionsAreRejected(_ text: String) {
    #expect(throws: PayloadError.self) { try LoadCondition.list(text) }
  }

  /// `errors>0.1` would hold at the first failure.
  @Test(arguments: [
    (
      "errors>0.1",
      "'0.1' is no number of calls: for a share of them write 0.1%, or 10%, which is 0.1 of them"
    ),
    ("errors<=2.5", "'2.5' is no number of calls: for a share of them write 2.5%"),
    ("calls<0.5", "'0.5' is no number of calls"),
    ("p99=>20ms", "'p99=>20ms' is not a condition: the comparisons are >, <, >= and <="),
    (
      "p99>20ms;errors>1%",
      "'p99>20ms;errors>1%' has a semicolon: conditions are separated by commas, such as p99>20ms,errors>0.1%"
    ),
  ])
  func whatIsNearlyAConditionIsExplained(_ text: String, _ reason: String) {
    let error = #expect(throws: PayloadError.self) { try LoadCondition.list(text) }
    #expect(error?.description == reason)
  }

  @Test func aSearchFindsTheLimit() {
    for limit in [3.0, 77, 1234, 99_999] {
      var search = LimitSearch(start: 100)
      var steps = 0
      while let rate = search.next {
        search.record(rate <= limit)
        steps += 1
      }
      let found = search.passed ?? 0
      #expect(found <= limit && found >= limit / 1.06, "\(limit): \(found)")
      #expect(steps < 25)
    }
  }

  @Test func aSearchEndsWithoutALimit() {
    var none = LimitSearch(start: 100)
    while none.next != nil { none.record(false) }
    #expect(none.passed == nil)
    var all = LimitSearch(start: 100, largest: 1000)
    while all.next != nil { all.record(true) }
    #expect(all.passed == 1000)
    #expect(all.failed == nil)
  }

  @Test func numbersAreFormattedForReading() {
    #expect(Figure.time(999) == "0.999 us")
    #expect(Figure.time(1_500_000) == "1.50 ms")
    #expect(Figure.time(0) == "0 us")
    #expect(Figure.grouped(1_234_567) == "1,234,567")
    #expect(Figure.grouped(-1234) == "-1,234")
    #expect(Figure.grouped(123) == "123")
    #expect(Figure.short(99.9) == "99.9")
    #expect(Figure.short(50) == "50")
    #expect(Figure.decimal(-0.04, places: 1) == "0.0")
    #expect(Figure.decimal(.nan, places: 1) == "-")
    for value in [9.3e14, 9.9e14, 1e15, .infinity, -9.9e14] {
      #expect(!Figure.short(value).isEmpty && !Figure.significant(value).isEmpty)
    }
    #expect(Figure.nanoseconds("1.5s") == 1.5e9)
    #expect(Figure.nanoseconds("10m") == 600e9)
    #expect(Figure.nanoseconds("7") == nil)
  }
}

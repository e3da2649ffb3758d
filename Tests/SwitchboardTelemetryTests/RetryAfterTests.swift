import Testing

@testable import SwitchboardTelemetry

/// The header `Retry-After`.
@Suite struct RetryAfterTests {
  /// Sun, 06 Nov 1994 08:49:37 GMT.
  private let now = 784_111_777

  @Test(arguments: [("0", 0), ("7", 7), ("300", 300), ("301", 300), ("9999999999", 300), ("-1", 0)])
  func secondsAreBounded(_ text: String, _ seconds: Int) {
    #expect(RetryAfter.delay(text, now: now) == .seconds(seconds))
  }

  @Test(arguments: [
    "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
  ])
  func datesHaveThreeForms(_ text: String) {
    #expect(RetryAfter.date(text, now: now) == now)
    #expect(RetryAfter.delay(text, now: now - 42) == .seconds(42))
    #expect(RetryAfter.delay(text, now: now + 42) == .zero)
    #expect(RetryAfter.delay(text, now: now - 100_000) == .seconds(300))
  }

  @Test(arguments: [
    ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
    ("Sun, 28 Feb 2100 23:59:59 GMT", 4_107_542_399), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
    ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800), ("Sat Jan 10 00:00:00 1970", 777_600),
    ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
  ]) func datesFollowTheCalendar(_ text: String, _ seconds: Int) {
    #expect(RetryAfter.date(text, now: now) == seconds)
  }

  /// The century of a year with two digits is the one that makes it closest, at most 50 years ahead.
  @Test(arguments: [("94", 1994), ("43", 2043), ("45", 1945), ("00", 2000)])
  func aYearOfTwoDigitsHasACentury(_ year: String, _ whole: Int) throws {
    let date = try #require(RetryAfter.date("Sunday, 06-Nov-\(year) 08:49:37 GMT", now: now))
    #expect(date == RetryAfter.date("Sun, 06 Nov \(whole) 08:49:37 GMT", now: now))
  }

  @Test(arguments: [
    "", " ", "7 s", "soon", "0x10", "99999999999999999999", "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 UTC",
    "Sun, 6 Nov 1994 08:49:37 GMT", "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT", "Mon, 29 Feb 2100 00:00:00 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
    "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06 Nov +994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49 GMT",
    "Sun, 06 Nov 1994 08::37 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
    "Sunday, 06-Nov 08:49:37 GMT", "Sun Nov 06 08:49:37 94", ", , , , , GMT", "     ",
    "Sun, ０６ Nov 1994 08:49:37 GMT",
  ]) func anythingElseIsIgnored(_ text: String) {
    #expect(RetryAfter.delay(text, now: now) == nil)
    #expect(RetryAfter.delay(text + String(repeating: "1", count: 10_000), now: now) == nil)
  }
}

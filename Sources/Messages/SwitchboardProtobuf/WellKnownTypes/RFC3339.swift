/// Points in time in the format of RFC 3339: `1972-01-01T10:00:20.021Z`.
enum RFC3339 {
  private static let secondsPerDay: Int64 = 86400

  /// Parses a time with `Z` or an offset into the seconds since 1970 and the nanoseconds. Nil if the text is malformed,
  /// or its day or time does not exist; there are no leap seconds.
  static func parse(_ text: ArraySlice<UInt8>) -> (seconds: Int64, nanos: Int32)? {
    var scanner = TimeScanner(text)
    guard let day = date(&scanner), scanner.take(UInt8(ascii: "T")), let time = timeOfDay(&scanner),
      let nanos = scanner.fraction(), let offset = offset(&scanner), scanner.isAtEnd
    else { return nil }
    return (day * secondsPerDay + time - offset, nanos)
  }

  private static func date(_ scanner: inout TimeScanner) -> Int64? {
    guard let year = scanner.number(digits: 4), scanner.take(UInt8(ascii: "-")),
      let month = scanner.number(digits: 2), scanner.take(UInt8(ascii: "-")),
      let day = scanner.number(digits: 2)
    else { return nil }
    return CivilDate(year: year, month: month, day: day)?.daysSince1970
  }

  private static func timeOfDay(_ scanner: inout TimeScanner) -> Int64? {
    guard let hour = scanner.number(digits: 2), scanner.take(UInt8(ascii: ":")),
      let minute = scanner.number(digits: 2), scanner.take(UInt8(ascii: ":")),
      let second = scanner.number(digits: 2),
      hour < 24, minute < 60, second < 60
    else { return nil }
    return Int64(hour * 3600 + minute * 60 + second)
  }

  private static func offset(_ scanner: inout TimeScanner) -> Int64? {
    if scanner.take(UInt8(ascii: "Z")) { return 0 }
    let isNegative = scanner.take(UInt8(ascii: "-"))
    guard isNegative || scanner.take(UInt8(ascii: "+")),
      let hour = scanner.number(digits: 2), scanner.take(UInt8(ascii: ":")),
      let minute = scanner.number(digits: 2), hour < 24, minute < 60
    else { return nil }
    let seconds = Int64(hour * 3600 + minute * 60)
    return isNegative ? -seconds : seconds
  }

  /// Formats a time in the years 1 to 9999, in UTC.
  static func text(seconds: Int64, nanos: Int32) -> String {
    let time = (seconds % secondsPerDay + secondsPerDay) % secondsPerDay
    let day = (seconds - time) / secondsPerDay
    let date = CivilDate(daysSince1970: day)
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    return TimeText.padded(date.year, 4) + "-" + TimeText.padded(date.month, 2) + "-"
      + TimeText.padded(date.day, 2) + "T" + TimeText.padded(hour, 2) + ":" + TimeText.padded(minute, 2)
      + ":" + TimeText.padded(second, 2) + TimeText.fraction(nanos) + "Z"
  }
}

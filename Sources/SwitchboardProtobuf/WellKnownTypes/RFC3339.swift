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
      let day = scanner.number(digits: 2),
      1...12 ~= month, day >= 1, day <= length(ofMonth: month, year: year)
    else { return nil }
    return days(year: Int64(year), month: Int64(month), day: Int64(day))
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

  private static func length(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// Formats a time in the years 1 to 9999, in UTC.
  static func text(seconds: Int64, nanos: Int32) -> String {
    let time = (seconds % secondsPerDay + secondsPerDay) % secondsPerDay
    let day = (seconds - time) / secondsPerDay
    let date = civil(day)
    let (hour, minute, second) = (time / 3600, time / 60 % 60, time % 60)
    return TimeText.padded(date.year, 4) + "-" + TimeText.padded(date.month, 2) + "-"
      + TimeText.padded(date.day, 2) + "T" + TimeText.padded(hour, 2) + ":" + TimeText.padded(minute, 2)
      + ":" + TimeText.padded(second, 2) + TimeText.fraction(nanos) + "Z"
  }

  // Both conversions count in eras of 400 years, which all have the same number of days, and in years that begin in
  // March, so that the leap day comes last.

  private static let daysPerEra: Int64 = 146_097
  /// The days from 1 March of the year 0 to the start of 1970.
  private static let daysBefore1970: Int64 = 719_468

  /// The days since 1970.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month > 2 ? year + 400 : year + 399  // one era later, to avoid negative numbers
    let monthFromMarch = (month + 9) % 12
    let (era, yearOfEra) = year.quotientAndRemainder(dividingBy: 400)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return (era - 1) * daysPerEra + dayOfEra - daysBefore1970
  }

  /// The date of a day since 1970, from the year 1 on.
  private static func civil(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + daysBefore1970).quotientAndRemainder(dividingBy: daysPerEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
  }
}

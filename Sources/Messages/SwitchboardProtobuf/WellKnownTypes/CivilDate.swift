/// A day in the Gregorian calendar, from the year 0 on.
package struct CivilDate {
  package let year: Int64
  package let month: Int64
  package let day: Int64

  // Both conversions count in eras of 400 years, which all have the same number of days, and in years that begin in
  // March, so that the leap day comes last.

  private static let daysPerEra: Int64 = 146_097
  /// The days from 1 March of the year 0 to the start of 1970.
  private static let daysBefore1970: Int64 = 719_468

  /// `nil` if there is no such day.
  package init?(year: Int, month: Int, day: Int) {
    guard 1...12 ~= month, day >= 1, day <= Self.length(ofMonth: month, year: year) else { return nil }
    (self.year, self.month, self.day) = (Int64(year), Int64(month), Int64(day))
  }

  /// The days must be those of a date in the year 1 or later.
  package init(daysSince1970 days: Int64) {
    let (era, dayOfEra) = (days + Self.daysBefore1970).quotientAndRemainder(dividingBy: Self.daysPerEra)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
  }

  package var daysSince1970: Int64 {
    let year = month > 2 ? year + 400 : year + 399  // one era later, to avoid negative numbers
    let monthFromMarch = (month + 9) % 12
    let (era, yearOfEra) = year.quotientAndRemainder(dividingBy: 400)
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return (era - 1) * Self.daysPerEra + dayOfEra - Self.daysBefore1970
  }

  private static func length(ofMonth month: Int, year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}

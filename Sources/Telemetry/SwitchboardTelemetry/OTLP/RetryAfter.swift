import SwitchboardProtobuf

/// The value of the header `Retry-After`: a number of seconds, or a date.
enum RetryAfter {
  /// A collector must not make this process wait for hours.
  static let longest = 300

  /// How long to wait. `nil` if the value is neither. `now` is in seconds since 1970, and tells the century of a year of
  /// two digits too.
  static func delay(_ text: String, now: Int) -> Duration? {
    guard text.utf8.count <= 64 else { return nil }
    if let seconds = Int(text) { return bounded(seconds) }
    return date(text, now: now).map { bounded($0 - now) }
  }

  private static func bounded(_ seconds: Int) -> Duration { .seconds(min(max(seconds, 0), longest)) }

  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
  private static let longDays = [
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
  ]

  /// The seconds from 1970 to a date in one of the three forms of HTTP, the last two of which are obsolete:
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.
  static func date(_ text: String, now: Int) -> Int? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    switch parts.count {
    case 6 where parts[5] == "GMT":
      guard parts[0].last == ",", days.contains(String(parts[0].dropLast())) else { return nil }
      return seconds(number(parts[1], 2), parts[2], number(parts[3], 4), parts[4])
    case 4 where parts[3] == "GMT":
      let date = parts[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
      guard date.count == 3, parts[0].last == ",", longDays.contains(String(parts[0].dropLast())) else {
        return nil
      }
      let year = number(date[2], 2).map { fullYear($0, now) }
      return seconds(number(date[0], 2), date[1], year, parts[2])
    case 5 where days.contains(parts[0]):
      return seconds(number(parts[2], 2), parts[1], number(parts[4], 4), parts[3])
    case 6 where days.contains(parts[0]) && parts[2].isEmpty:
      return seconds(number(parts[3], 1), parts[1], number(parts[5], 4), parts[4])
    default: return nil
    }
  }

  /// The year of the century that makes it closest, at most 50 years ahead.
  private static func fullYear(_ twoDigits: Int, _ now: Int) -> Int {
    let thisYear = 1970 + now / 31_556_952
    let year = thisYear / 100 * 100 + twoDigits
    return year > thisYear + 50 ? year - 100 : year <= thisYear - 50 ? year + 100 : year
  }

  /// The number with exactly this many digits.
  private static func number(_ text: some StringProtocol, _ count: Int) -> Int? {
    guard text.utf8.count == count, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  private static func seconds(_ day: Int?, _ monthName: String, _ year: Int?, _ time: String) -> Int? {
    let parts = time.split(separator: ":", omittingEmptySubsequences: false)
    guard let day, let year, let month = months.firstIndex(of: monthName), parts.count == 3, year > 0,
      let date = CivilDate(year: year, month: month + 1, day: day),
      let hour = number(parts[0], 2), let minute = number(parts[1], 2), let second = number(parts[2], 2),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    return Int(date.daysSince1970) * 86400 + hour * 3600 + minute * 60 + second
  }
}

/// Seconds and nanoseconds as one number: 128 bits hold every value of the two fields, valid or not.
struct Nanoseconds: Comparable {
  static let perSecond: Int128 = 1_000_000_000

  let total: Int128

  init(total: Int128) { self.total = total }

  init(seconds: Int64, nanos: Int32) {
    total = Int128(seconds) * Nanoseconds.perSecond + Int128(nanos)
  }

  static func < (left: Nanoseconds, right: Nanoseconds) -> Bool { left.total < right.total }

  /// Both fields with the sign of the whole, as in a Duration.
  var towardsZero: (seconds: Int64, nanos: Int32) {
    let (seconds, nanos) = total.quotientAndRemainder(dividingBy: Nanoseconds.perSecond)
    return (Int64(clamping: seconds), Int32(nanos))
  }

  /// Non-negative nanoseconds, as in a Timestamp.
  var down: (seconds: Int64, nanos: Int32) {
    var (seconds, nanos) = total.quotientAndRemainder(dividingBy: Nanoseconds.perSecond)
    if nanos < 0 {
      seconds -= 1
      nanos += Nanoseconds.perSecond
    }
    return (Int64(clamping: seconds), Int32(nanos))
  }
}

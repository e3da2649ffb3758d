/// Determines when calls are due at a given rate, whether or not earlier ones have ended.
///
/// The rate changes linearly from one value to another, and then stays there.
package struct RateSchedule: Sendable, Equatable {
  /// Calls per second at the beginning.
  package let from: Double
  /// Calls per second after the ramp.
  package let to: Double
  /// How long the ramp takes, in seconds.
  package let ramp: Double
  private let callsInRamp: Double

  package static let rates = 0.001...10_000_000.0

  package init(constant rate: Double) { self.init(from: rate, to: rate, ramp: 0) }

  /// Rates are clamped to ``rates``, except that `from` may be zero.
  package init(from: Double, to: Double, ramp: Double) {
    let to = min(max(to, Self.rates.lowerBound), Self.rates.upperBound)
    self.to = to
    self.ramp = min(max(ramp, 0), 1e9)
    self.from = self.ramp == 0 ? to : min(max(from, 0), Self.rates.upperBound)
    callsInRamp = (self.from + to) / 2 * self.ramp
  }

  /// When a call, counted from zero, is due, in nanoseconds since the start.
  package func due(_ index: UInt64) -> UInt64 {
    let count = Double(index)
    let seconds: Double
    if count >= callsInRamp {
      seconds = ramp + (count - callsInRamp) / to
    } else if index == 0 {
      seconds = 0
    } else {
      // The time at which the integral of the rate reaches `count`, in a form that is also exact for a constant rate.
      let slope = (to - from) / ramp
      seconds = 2 * count / (from + max(0, from * from + 2 * slope * count).squareRoot())
    }
    return UInt64(min(seconds * 1e9, 9e18))
  }

  /// How many calls are due before a time.
  package func count(before time: UInt64) -> UInt64 {
    let seconds = Double(time) / 1e9
    let calls: Double
    if seconds >= ramp {
      calls = callsInRamp + (seconds - ramp) * to
    } else {
      calls = from * seconds + (to - from) / ramp * seconds * seconds / 2
    }
    var count = UInt64(min(max(calls, 0), 9e18))
    // Corrects rounding errors in either direction.
    while count > 0, due(count - 1) >= time { count -= 1 }
    while due(count) < time { count += 1 }
    return count
  }
}

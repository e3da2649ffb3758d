import SwitchboardCall
import Synchronization

/// A method that calls are counted of, on a client with the target: it decides which of its calls somebody may want to see.
package final class CalledMethod: Sendable {
  package let name: String
  /// The target of the channel; empty on servers.
  package let target: String
  package let isServer: Bool
  private let slow: Atomic<Int>
  /// When the next failure with each status is worth a look, on the clock of calls.
  private let failures = Locked<[Int: UInt64]>([:])

  /// How far apart the failures with one status are that are worth a look, in nanoseconds: floods of them cost little, and
  /// look the same.
  static let failureInterval: UInt64 = 100_000_000

  /// No method: none of its calls is worth a look.
  static let none = CalledMethod("", target: "", isServer: true, isWatched: false)

  init(_ name: String, target: String, isServer: Bool, isWatched: Bool) {
    self.name = name
    self.target = target
    self.isServer = isServer
    slow = Atomic(isWatched ? 0 : .max)
  }

  /// The duration in nanoseconds from which on a call is worth a look. By default, none is.
  package var slowness: Int {
    get { slow.load(ordering: .relaxed) }
    set { slow.store(newValue, ordering: .relaxed) }
  }

  /// Whether a call may be worth a look. Each call asks this.
  @inline(__always)
  func isNotable(_ code: GRPCStatus.Code, _ duration: Int) -> Bool {
    code != .ok || duration >= slow.load(ordering: .relaxed)
  }

  /// Whether a failure at this time is worth a look.
  func failureIsDue(_ code: GRPCStatus.Code, at mark: UInt64) -> Bool {
    failures.withLock { next in
      guard next[code.rawValue, default: 0] <= mark else { return false }
      next[code.rawValue] = mark &+ Self.failureInterval
      return true
    }
  }
}

/// Is told when something blocks a loop. Called by the thread of `LoopWatchdog`.
package protocol BlockListener: AnyObject, Sendable {
  /// How long a loop may be blocked without a word, in nanoseconds.
  var limit: UInt64 { get }

  /// Whether this is the number of one of its methods, or of a call of its own.
  func knows(_ method: UInt) -> Bool

  /// A loop is blocked, by the method with this number if it is one of its own. Returns whether that was reported.
  func blocked(_ method: UInt, for time: UInt64, at now: UInt64) -> Bool

  /// The end of what was reported.
  func released(_ method: UInt, after time: UInt64)
}

import SwitchboardCall
import SwitchboardNetwork

/// Hears of a handler that goes on to use the streams of its call after the end, and lets their errors pass: it would run
/// forever.
///
/// Each of several tasks of a handler may get an error once, and end. So it is logged only if that goes on for a while.
final class IgnoredEnd: MessagePipe.LateUseReporter {
  private struct Uses: Sendable {
    var count = 0
    var first: UInt64 = 0
    var areReported = false
  }

  /// How often, and for how long, errors may pass without a word.
  private static let leastUses = 3
  private static let patience = Duration.seconds(5)

  private let method: RPCMethod
  private let log: ServerLog
  private let loop: Loop
  /// When the call ended.
  private let end: UInt64
  private let uses = Locked(Uses())

  /// For a call that ends now.
  init(_ method: RPCMethod, _ log: ServerLog, _ loop: Loop) {
    self.method = method
    self.log = log
    self.loop = loop
    end = loop.now
  }

  func pipeWasUsedLate(_ use: MessagePipe.LateUse) {
    // Tasks on several threads may come out of order, so that a later use may have an earlier time.
    let now = max(loop.now, end)
    let count: Int? = uses.withLock { uses in
      if uses.count == 0 { uses.first = now }
      uses.count += 1
      let patience = uses.first + Self.patience.nanoseconds
      guard !uses.areReported, uses.count >= Self.leastUses, now >= patience else { return nil }
      uses.areReported = true
      return uses.count
    }
    guard let count else { return }
    let age = Duration.nanoseconds(Int64(clamping: now - end))
    log.report(ignoredEnd: age, uses: count, of: method.descriptor.path, on: loop)
  }
}

import SwitchboardCall
import SwitchboardNetwork

/// Says which calls block the loop of a channel: by a callback such as that of `whenResponse`, or by an interceptor.
final class CallbackBlocks: BlockListener {
  /// How long a loop may be blocked without a word, in nanoseconds.
  let limit: UInt64
  private let log: BlockLog

  /// `nil` if the options do not want it.
  init?(_ options: ChannelOptions) {
    guard let limit = options.blockedLoopLimit else { return nil }
    self.limit = limit.nanoseconds
    log = BlockLog(options.logger)
  }

  func knows(_ number: UInt) -> Bool { CalledMethods.ofProcess.path(of: number) != nil }

  func blocked(_ number: UInt, for time: UInt64, at now: UInt64) -> Bool {
    let path = CalledMethods.ofProcess.path(of: number)
    let who = path == nil ? "something" : "a callback of a call, or a client's interceptor,"
    return log.blocked(by: who, path, for: time, at: now, hint: path == nil ? Self.noMethod : Self.hint)
  }

  func released(_ number: UInt, after time: UInt64) {
    log.released(CalledMethods.ofProcess.path(of: number), after: time)
  }

  private static let hint =
    "let a callback, such as that of whenResponse, hand its work to a task or a queue; "
    + "give an interceptor a responseExecutor, or make it one of whole calls"
  private static let noMethod =
    "perhaps an interceptor that sends, a task that prefers the channel's event loop, or work given to "
    + "EventLoop.execute; or the machine has too little time for the process"
}

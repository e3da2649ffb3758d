import SwitchboardCall
import SwitchboardNetwork
import Synchronization

/// Says which calls block the loop of a channel: by a callback such as that of `whenResponse`, or by an interceptor.
final class CallbackBlocks: BlockListener {
  /// How long a loop may be blocked without a word, in nanoseconds.
  let limit: UInt64
  private let log: BlockLog
  /// The upper bits of the numbers of its channel's calls. The lower ones are those of the method.
  let mark: UInt

  /// `nil` if the options do not want it.
  init?(_ options: ChannelOptions) {
    guard let limit = options.blockedLoopLimit else { return nil }
    self.limit = limit.nanoseconds
    log = BlockLog(options.logger)
    mark = Self.last.wrappingAdd(1, ordering: .relaxed).newValue << Self.bitsOfMethod
  }

  /// How many of the bits are those of the method's mark.
  private static let bitsOfMethod: UInt = 40
  private static let last = Atomic<UInt>(0)

  /// `number` is a call's mark without its last bit.
  func knows(_ number: UInt) -> Bool { (number << 1) >> Self.bitsOfMethod == mark >> Self.bitsOfMethod }

  func blocked(_ number: UInt, for time: UInt64, at now: UInt64) -> Bool {
    let isOfCall = knows(number)
    let who = isOfCall ? "a callback of a call, or a client's interceptor," : "something"
    let hint = isOfCall ? Self.hint : Self.noMethod
    return log.blocked(by: who, Self.path(of: number), for: time, at: now, hint: hint)
  }

  func released(_ number: UInt, after time: UInt64) { log.released(Self.path(of: number), after: time) }

  static func path(of number: UInt) -> String? {
    CalledMethods.ofProcess.path(of: number & (1 << (bitsOfMethod - 1) - 1))
  }

  private static let hint =
    "let a callback, such as that of whenResponse, hand its work to a task or a queue; "
    + "give an interceptor a responseExecutor, or make it one of whole calls"
  private static let noMethod =
    "perhaps an interceptor that sends, a task that prefers the channel's event loop, or work given to "
    + "EventLoop.execute; or the machine has too little time for the process"
}

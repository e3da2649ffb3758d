import SwitchboardCall
import SwitchboardNetwork

/// What the log says about the program that uses a channel: which of its metadata is left out, which of its callbacks block the
/// channel's loop, and whether it makes channels for single calls.
struct ChannelMistakes: Sendable {
  let leftOut: LeftOutFields
  /// `nil` if nobody looks after the loop.
  private let blocks: CallbackBlocks?
  private let logger: Logger
  /// Where the channel counts if it makes only one call; `nil` if the program has not made it itself.
  private let singleCalls: SingleCallChannels?
  /// When the channel was made.
  private let start: UInt64

  init(_ options: ChannelOptions, _ loop: Loop, _ singleCalls: SingleCallChannels?) {
    logger = options.logger
    self.singleCalls = singleCalls
    start = loop.now
    leftOut = LeftOutFields(options.logger)
    blocks = CallbackBlocks(options)
    if let blocks { LoopWatchdog.shared.watch([loop], for: blocks) }
  }

  /// What the loop's activity knows a call of this method by.
  @inline(__always)
  func mark(of method: MethodDescriptor) -> UInt {
    CalledMethods.ofProcess.mark(of: method) | (blocks?.mark ?? 0)
  }

  /// Called when a channel ends that is connected.
  func channelEnds(after calls: CallTotals, to target: String, at now: UInt64) {
    guard calls.started == 1, calls.inProgress == 0, singleCalls?.add(target, from: start, to: now) == true
    else {
      return
    }
    logger.log(
      .warning,
      "channels are made for single calls, and each has to connect anew: make one, and keep it for all calls to its target, also "
        + "for those at the same time",
      [
        "target": target, "channels": "\(SingleCallChannels.limit)",
        "within": SingleCallChannels.period.readable,
      ]
    )
  }

  func end() {
    if let blocks { LoopWatchdog.shared.unwatch(for: blocks) }
  }
}

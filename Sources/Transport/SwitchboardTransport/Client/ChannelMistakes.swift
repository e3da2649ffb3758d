import SwitchboardCall
import SwitchboardNetwork

/// What the log says about the program that uses a channel: which of its metadata is left out, and which of its callbacks
/// block the channel's loop.
struct ChannelMistakes: Sendable {
  let leftOut: LeftOutFields
  /// `nil` if nobody looks after the loop.
  private let blocks: CallbackBlocks?

  init(_ options: ChannelOptions, _ loop: Loop) {
    leftOut = LeftOutFields(options.logger)
    blocks = CallbackBlocks(options)
    if let blocks { LoopWatchdog.shared.watch([loop], for: blocks) }
  }

  /// What the loop's activity knows a call of this method by.
  @inline(__always)
  func mark(of method: MethodDescriptor) -> UInt {
    CalledMethods.ofProcess.mark(of: method) | (blocks?.mark ?? 0)
  }

  func end() {
    if let blocks { LoopWatchdog.shared.unwatch(for: blocks) }
  }
}

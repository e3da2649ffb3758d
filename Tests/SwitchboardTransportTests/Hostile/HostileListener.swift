import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A server that a test scripts, and a channel to it. Whatever it sends, a bystander on the channel's loop does not wait for
/// long.
struct HostileListener {
  let listener: FrameListener
  let channel: Channel
  let abuses: AbuseRecorder

  static func with<Value>(
    _ options: ChannelOptions = ChannelOptions(),
    _ body: (HostileListener) async throws -> Value
  ) async throws -> Value {
    var value: Value?
    let waits = try await Bystander.trying { try await measured(options) { value = try await body($0) } }
    #expect(waits.areShort, "\(waits)")
    return try #require(value)
  }

  /// How long the bystander waits while `body` runs.
  private static func measured(
    _ options: ChannelOptions,
    _ body: (HostileListener) async throws -> Void
  ) async throws -> Bystander.Waits {
    var options = options
    let abuses = AbuseRecorder()
    options.observer = abuses
    let group = try LoopGroup()
    let listener = try FrameListener()
    return try await withChannel(to: listener.target, options: options, group: group) {
      channel async throws in
      try await Bystander.with(group) { bystander async throws in
        try await bystander.waits {
          try await body(HostileListener(listener: listener, channel: channel, abuses: abuses))
        }
      }
    }
  }

  /// Starts a call. One that an attack should have ended ends at its deadline.
  func call() -> Task<[UInt8], any Error> {
    let channel = channel
    return Task(executorPreference: channel.eventLoop) {
      try await Caller(channel: channel).get(options: CallOptions(timeout: .seconds(300)))
    }
  }
}

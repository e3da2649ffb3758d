import SwitchboardCall
import Synchronization

/// A pool's channel, which counts its calls to detect that it is not used.
final class PooledChannel: Sendable {
  private let channel: HTTP2ClientTransport
  /// The number of calls made; negative once the channel is closed.
  private let uses = Atomic(0)

  init(_ channel: HTTP2ClientTransport) {
    self.channel = channel
  }

  /// `nil` once the channel is closed.
  func makeCall(_ request: CallRequest, _ receiver: any ResponseReceiver) -> (any ByteCall)? {
    var known = uses.load(ordering: .relaxed)
    while known >= 0 {
      let (exchanged, original) = uses.weakCompareExchange(
        expected: known,
        desired: known + 1,
        ordering: .acquiringAndReleasing
      )
      if exchanged { return channel.makeCall(request, receiver: receiver) }
      known = original
    }
    return nil
  }

  /// The number of calls made so far, and whether the channel is unused: none since the count was `before`, and none in
  /// flight.
  func unusedSince(_ before: Int) async -> (isUnused: Bool, uses: Int) {
    await withCheckedContinuation { continuation in
      channel.eventLoop.execute { [self] in
        let now = uses.load(ordering: .acquiring)
        continuation.resume(returning: (now == before && channel.isUnused, now))
      }
    }
  }

  /// Refuses further calls, unless the number of calls is no longer `count`.
  func end(after count: Int) -> Bool {
    uses.compareExchange(expected: count, desired: -1, ordering: .acquiringAndReleasing).exchanged
  }

  func connect() { channel.connect() }

  func retire() { channel.retire() }

  func shutDown(grace: Duration) async { await channel.shutDown(grace: grace) }
}

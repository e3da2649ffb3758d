import SwitchboardCall

/// How a channel ends.
///
/// ```
///   open ──shut down, or released──> ending: new calls fail ──the last call or connection ends──> complete
/// ```
struct ChannelEnd {
  /// What new calls fail with from then on.
  private(set) var status = GRPCStatus.channelShutDown
  private var waiters: [CheckedContinuation<Void, Never>] = []

  /// Nothing has ended the channel but that the program let go of it.
  mutating func wasReleased() { status = .channelReleased }

  mutating func add(_ waiter: CheckedContinuation<Void, Never>) { waiters.append(waiter) }

  /// Resumes those who wait for the end.
  mutating func complete() {
    for waiter in waiters { waiter.resume() }
    waiters = []
  }
}

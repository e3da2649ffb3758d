import SwitchboardCall

/// What has become of the attempts of a client's call.
struct AttemptLog {
  /// The first is usually the only one, which costs no allocation.
  private var first: EndedCall.Attempt?
  private var others: [EndedCall.Attempt] = []
  /// What the latest one has sent and received.
  private(set) var sent = MessageTotals()
  private(set) var received = MessageTotals()

  /// The most attempts that are kept: more than a policy makes, unless the transport repeats them.
  private static let most = 16

  var attempts: [EndedCall.Attempt] { first.map { [$0] + others } ?? [] }

  /// An attempt of a call that began at `start` has ended.
  mutating func add(
    _ attempt: Attempt,
    _ end: ObservedEnd,
    since start: UInt64,
    to now: UInt64,
    isSentAgain: Bool
  ) {
    (sent, received) = (end.sent, end.received)
    guard others.count < Self.most else { return }
    let ended = EndedCall.Attempt(
      start: TelemetryClock.duration(from: start, to: attempt.start),
      picked: attempt.picked.map { TelemetryClock.duration(from: start, to: $0) },
      duration: TelemetryClock.duration(from: attempt.start, to: now),
      server: attempt.server,
      code: end.status.code,
      wasSentAgain: isSentAgain
    )
    if first == nil { first = ended } else { others.append(ended) }
  }
}

import SwitchboardBalancing
import SwitchboardCall

/// When a control plane may get the next stream. That holds also if nobody asked it in between: one that comes and goes does not make
/// others work more.
struct StreamPace {
  /// Streams that serve and end follow each other no faster than that.
  private static let shortestLife = Duration.milliseconds(100)

  private var backoff = Backoff(initial: .seconds(1), maximum: .seconds(120))
  private var random = SystemRandomNumberGenerator()
  /// `nil`: at once.
  private(set) var next: ContinuousClock.Instant?
  /// Why the latest stream that ended by itself has brought nothing; `nil` if it did.
  private(set) var failure: GRPCStatus?

  mutating func began(at now: ContinuousClock.Instant) { next = now.advanced(by: Self.shortestLife) }

  /// A stream has ended by itself. If it brought nothing, the waits grow.
  mutating func ended(_ status: GRPCStatus, hasServed: Bool, at now: ContinuousClock.Instant) {
    failure = hasServed ? nil : status
    if hasServed { return backoff.reset() }
    next = max(next ?? now, now.advanced(by: backoff.next(using: &random)))
  }

  /// Why the next stream has to wait, if that is because the latest has failed.
  func reasonToWait(at now: ContinuousClock.Instant) -> GRPCStatus? {
    guard let next, next > now.advanced(by: Self.shortestLife) else { return nil }
    return failure
  }
}

/// Leaves a channel's loop to its calls, although a control plane may send one change after the other, and each makes the channel go
/// over all of its config: that gets a quarter of the loop's time.
struct RefreshPace: Sendable {
  /// A change waits no longer: it may be the machine that was slow.
  private static let longestWait = Duration.seconds(5)

  private var start = Duration.zero
  private var next = Duration.zero

  mutating func begins(at now: Duration) { start = now }

  /// What follows from the change has been done too.
  mutating func ends(at now: Duration) { next = now + min((now - start) * 3, Self.longestWait) }

  /// How long the next change has to wait.
  func wait(at now: Duration) -> Duration { max(.zero, next - now) }
}

/// A range of durations, of which each is ten times as long as the one before.
enum LatencyBucket: String, Sendable, CaseIterable {
  case under1ms = "under_1ms"
  case from1ms = "1ms"
  case from10ms = "10ms"
  case from100ms = "100ms"
  case from1s = "1s"
  case from10s = "10s"

  init(nanoseconds: Int) {
    self =
      switch nanoseconds {
      case ..<1_000_000: .under1ms
      case ..<10_000_000: .from1ms
      case ..<100_000_000: .from10ms
      case ..<1_000_000_000: .from100ms
      case ..<10_000_000_000: .from1s
      default: .from10s
      }
  }
}

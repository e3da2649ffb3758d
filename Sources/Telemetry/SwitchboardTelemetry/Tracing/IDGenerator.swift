import Synchronization

/// Makes the identities of traces and spans.
protocol IDSource {
  mutating func traceID() -> TraceID
  mutating func spanID() -> SpanID
}

/// Makes the identities of traces and spans from a counter and a seed, both random in each process. They are unique,
/// not secret.
final class IDGenerator: IDSource, Sendable {
  private let counter: Atomic<UInt64>
  private let seed: UInt64

  init() {
    var random = SystemRandomNumberGenerator()
    counter = Atomic(random.next())
    seed = random.next()
  }

  /// A generator that makes the same identities in each run, for tests.
  init(seed: UInt64) {
    counter = Atomic(seed)
    self.seed = ~seed
  }

  func traceID() -> TraceID {
    let (_, count) = counter.wrappingAdd(Self.step, ordering: .relaxed)
    return TraceID(high: Self.mixed(count), low: max(1, Self.mixed(count ^ seed)))
  }

  func spanID() -> SpanID {
    let (_, count) = counter.wrappingAdd(Self.step, ordering: .relaxed)
    return SpanID(max(1, Self.mixed(count)))
  }

  /// A generator for one span and its trace, so that only one atomic operation is needed for both.
  @inline(__always)
  func forSpan() -> LoopIDs {
    let (count, _) = counter.wrappingAdd(2 &* Self.step, ordering: .relaxed)
    return LoopIDs(state: count, seed: seed)
  }

  /// A generator for one loop, which shares nothing with others. It starts at a random place of the same sequence, so
  /// that identities meet as rarely as random ones.
  func forLoop() -> LoopIDs { LoopIDs(state: Self.mixed(traceID().high), seed: seed) }

  fileprivate static var step: UInt64 { 0x9E37_79B9_7F4A_7C15 }

  /// The last step of splitmix64, a bijection.
  @inline(__always)
  fileprivate static func mixed(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// Makes identities on one loop, without atomic operations.
struct LoopIDs: IDSource {
  fileprivate var state: UInt64
  fileprivate let seed: UInt64

  @inline(__always)
  mutating func traceID() -> TraceID {
    state &+= IDGenerator.step
    return TraceID(high: IDGenerator.mixed(state), low: max(1, IDGenerator.mixed(state ^ seed)))
  }

  @inline(__always)
  mutating func spanID() -> SpanID {
    state &+= IDGenerator.step
    return SpanID(max(1, IDGenerator.mixed(state)))
  }
}

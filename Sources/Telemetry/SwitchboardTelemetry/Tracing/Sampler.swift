import SwitchboardCall

/// Decides which traces are recorded.
///
/// ```swift
/// options.sampler = .parentBased(.ratio(0.01))
/// ```
public indirect enum Sampler: Sendable, Hashable {
  /// Records all traces.
  case always
  /// Records no traces. Their identities are still passed on.
  case never
  /// Records this share of the traces, from 0 to 1. The choice depends on the identity of the trace, so that all
  /// services with the same share record the same traces. `Telemetry.init` throws for another share.
  case ratio(Double)
  /// Follows the caller's decision. For traces that begin here, another sampler decides.
  case parentBased(Sampler)
}

extension Sampler {
  /// Throws `INVALID_ARGUMENT` for a share that is none.
  func check() throws(GRPCStatus) {
    switch self {
    case .always, .never: return
    case .parentBased(let root): try root.check()
    case .ratio(let share):
      guard (0...1).contains(share) else {
        throw .invalidOption(
          "sampler is .ratio(\(share)): it must be from 0 to 1, of which 0.5 is every other trace"
        )
      }
    }
  }
}

/// What a sampler does, as numbers that decide in a few steps.
struct SamplingRule {
  private let followsParent: Bool
  /// The traces are recorded whose identities are at least this: their last seven bytes, which are random.
  private let least: UInt64

  init(_ sampler: Sampler) {
    switch sampler {
    case .always: (followsParent, least) = (false, 0)
    case .never: (followsParent, least) = (false, Self.end)
    case .ratio(let share): (followsParent, least) = (false, Self.least(of: share))
    case .parentBased(let root): (followsParent, least) = (true, SamplingRule(root).least)
    }
  }

  private static var end: UInt64 { 1 << 56 }

  private static func least(of share: Double) -> UInt64 {
    guard share > 0 else { return end }
    return share < 1 ? UInt64((1 - share) * Double(end)) : 0
  }

  @inline(__always)
  func samples(_ traceID: TraceID, _ parent: SpanIdentity) -> Bool {
    if followsParent, parent.isValid { return parent.isSampled }
    return traceID.low & (Self.end - 1) >= least
  }
}

import SwitchboardBalancing
import Synchronization

/// Random numbers for all threads. Predictable ones do no harm here.
final class SharedDice: Sendable {
  private let state = Atomic(UInt64.random(in: 0...UInt64.max))

  /// A number below `bound`, which must be positive.
  func next(below bound: Int) -> Int {
    var random = QuickRandom(seed: state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue)
    return random.next(below: bound)
  }
}

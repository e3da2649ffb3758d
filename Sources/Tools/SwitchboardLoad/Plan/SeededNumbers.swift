/// Random numbers that are the same for the same seed: SplitMix64.
package struct SeededNumbers: RandomNumberGenerator, Sendable {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  /// The numbers for one call, independent of the order of the calls.
  package init(seed: UInt64, call: UInt64) {
    var first = SeededNumbers(seed: seed)
    var second = SeededNumbers(seed: first.next() ^ call)
    state = second.next()
  }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}

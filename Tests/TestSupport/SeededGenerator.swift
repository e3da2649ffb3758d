/// Random numbers that are the same in every run, so that a seed repeats a failure.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  // Not a multiple of the step below: otherwise the numbers of one seed would be those of the next, shifted by one.
  package init(seed: Int) { state = UInt64(bitPattern: Int64(seed)) &* 0xD134_2543_DE82_EF95 }

  package mutating func next() -> UInt64 {
    // SplitMix64
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// True with a probability of `percent`.
  package mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  /// One of `choices`, which must not be empty.
  package mutating func pick<Choice>(_ choices: [Choice]) -> Choice {
    choices[Int.random(in: choices.indices, using: &self)]
  }
}

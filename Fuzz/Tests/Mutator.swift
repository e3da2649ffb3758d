/// Makes small changes to inputs, the same in every run.
struct Mutator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  /// SplitMix64, whose state is a single number.
  private mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }

  mutating func number(below limit: Int) -> Int { Int(next() % UInt64(max(1, limit))) }

  /// Makes one to four changes, some of them with bytes of another input.
  mutating func mutate(_ input: [UInt8], with other: [UInt8]) -> [UInt8] {
    var bytes = input
    for _ in 0...number(below: 4) { change(&bytes, with: other) }
    return bytes
  }

  private mutating func change(_ bytes: inout [UInt8], with other: [UInt8]) {
    let offset = number(below: bytes.count + 1)
    switch number(below: 6) {
    case 0 where offset < bytes.count: bytes[offset] ^= 1 << UInt8(number(below: 8))
    case 1 where offset < bytes.count: bytes[offset] = [0, 1, 0x7f, 0x80, 0xff][number(below: 5)]
    case 2: bytes.insert(UInt8(number(below: 256)), at: offset)
    case 3: bytes.removeSubrange(offset..<min(bytes.count, offset + 1 + number(below: 8)))
    case 4: bytes.removeSubrange(offset...)
    default:
      let start = number(below: other.count + 1)
      bytes.insert(contentsOf: other[start..<min(other.count, start + 1 + number(below: 64))], at: offset)
    }
  }
}

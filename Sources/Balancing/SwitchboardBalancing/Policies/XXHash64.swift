/// The hash function XXH64, with which `ring_hash` and `random_subsetting` place endpoints and calls.
package enum XXHash64 {
  private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
  private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
  private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
  private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
  private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

  /// The hash of a text in UTF-8.
  static func hash(_ text: String, seed: UInt64 = 0) -> UInt64 { hash(Array(text.utf8).span, seed: seed) }

  package static func hash(_ bytes: Span<UInt8>, seed: UInt64 = 0) -> UInt64 {
    var position = 0
    var hash = bytes.count >= 32 ? stripes(bytes, &position, seed) : seed &+ prime5
    hash &+= UInt64(bytes.count)
    while bytes.count - position >= 8 {
      hash ^= round(0, word(bytes, position))
      hash = rotate(hash, 27) &* prime1 &+ prime4
      position += 8
    }
    if bytes.count - position >= 4 {
      hash ^= UInt64(half(bytes, position)) &* prime1
      hash = rotate(hash, 23) &* prime2 &+ prime3
      position += 4
    }
    while position < bytes.count {
      hash ^= UInt64(bytes[position]) &* prime5
      hash = rotate(hash, 11) &* prime1
      position += 1
    }
    hash = (hash ^ (hash >> 33)) &* prime2
    hash = (hash ^ (hash >> 29)) &* prime3
    return hash ^ (hash >> 32)
  }

  /// All blocks of 32 bytes, in four lanes.
  private static func stripes(_ bytes: Span<UInt8>, _ position: inout Int, _ seed: UInt64) -> UInt64 {
    var first = seed &+ prime1 &+ prime2
    var second = seed &+ prime2
    var third = seed
    var fourth = seed &- prime1
    while bytes.count - position >= 32 {
      first = round(first, word(bytes, position))
      second = round(second, word(bytes, position + 8))
      third = round(third, word(bytes, position + 16))
      fourth = round(fourth, word(bytes, position + 24))
      position += 32
    }
    var hash = rotate(first, 1) &+ rotate(second, 7) &+ rotate(third, 12) &+ rotate(fourth, 18)
    hash = merge(hash, first)
    hash = merge(hash, second)
    hash = merge(hash, third)
    return merge(hash, fourth)
  }

  private static func merge(_ hash: UInt64, _ lane: UInt64) -> UInt64 {
    (hash ^ round(0, lane)) &* prime1 &+ prime4
  }

  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    rotate(lane &+ word &* prime2, 31) &* prime1
  }

  private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
    value << bits | value >> (64 - bits)
  }

  private static func half(_ bytes: Span<UInt8>, _ position: Int) -> UInt32 {
    var value: UInt32 = 0
    for offset in 0..<4 { value |= UInt32(bytes[position + offset]) << UInt32(8 * offset) }
    return value
  }

  private static func word(_ bytes: Span<UInt8>, _ position: Int) -> UInt64 {
    UInt64(half(bytes, position)) | UInt64(half(bytes, position + 4)) << 32
  }
}

// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2

/// The heads of a connection's requests that repeat. Most calls of a client differ in nothing that their heads say.
///
/// The bytes of a block of headers mean the same as before as long as no block in between changes the table that it refers
/// to. nghttp2 then receives a head of the fewest fields that it accepts, a stand-in, and the stream receives what another
/// one has kept of the fields. Blocks that change the table are not remembered, and make all others be forgotten.
///
/// A client may send a different head with each call. So a block is remembered if one like it came shortly before, and then
/// replaces only one that was not in use lately.
final class RepeatedHeads {
  // Unchecked exclusivity: confined to the loop of its connection. An object, because idle connections have none.

  private struct Entry {
    let block: [UInt8]
    let kept: any KeptHead
    let standIn: [UInt8]
  }

  @exclusivity(unchecked) private var entries: [Entry] = []
  /// The entry that stands for the head that nghttp2 is receiving.
  @exclusivity(unchecked) private var current: Int?
  /// A bit for each entry that was made or used since it was last looked at for its place.
  @exclusivity(unchecked) private var used: UInt8 = 0
  /// The next entry to look at.
  @exclusivity(unchecked) private var hand = 0
  /// The block that is remembered if the stream that has it keeps its head; the stream's number, or zero.
  @exclusivity(unchecked) private var candidate: [UInt8] = []
  @exclusivity(unchecked) private var candidateStream: Int32 = 0
  /// Hashes of the blocks that came last and were not remembered.
  @exclusivity(unchecked) private var recent = SIMD8<UInt16>(repeating: 0)
  @exclusivity(unchecked) private var recentCount = 0

  /// A connection keeps a few blocks, none of them large.
  static let capacity = 4
  static let largestBlock = 192

  /// What was kept of the head that nghttp2 is receiving a stand-in for.
  var kept: (any KeptHead)? { current.map { entries[$0].kept } }

  /// The number of a block that is known.
  @inline(__always)
  func index(of block: UnsafeRawBufferPointer) -> Int? {
    entries.firstIndex { Self.areEqual($0.block, block) }
  }

  /// Calls `body` with what nghttp2 is to receive instead of a frame with that block.
  @inline(__always)
  func standIn<Result>(
    _ index: Int,
    for frame: UnsafeRawBufferPointer,
    _ body: (UnsafeRawBufferPointer) -> Result
  ) -> Result {
    current = index
    defer { current = nil }
    used |= 1 << UInt8(index)
    let standIn = entries[index].standIn
    return withUnsafeTemporaryAllocation(byteCount: standIn.count, alignment: 1) { memory in
      memory.copyBytes(from: standIn)
      // The flags, and the number of the stream.
      memory[4] = frame[4]
      memory.storeBytes(
        of: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self),
        toByteOffset: 5,
        as: UInt32.self
      )
      return body(UnsafeRawBufferPointer(memory))
    }
  }

  @inline(__always)
  private static func areEqual(_ block: [UInt8], _ other: UnsafeRawBufferPointer) -> Bool {
    guard block.count == other.count, let other = other.baseAddress else { return false }
    return block.withUnsafeBytes { $0.baseAddress?.equals(other, count: $0.count) ?? false }
  }

  /// Notes a block that is not known, and does not change the table.
  func note(_ block: UnsafeRawBufferPointer, of stream: Int32) {
    guard block.count <= Self.largestBlock else { return }
    let hash = Self.hash(block)
    guard any(recent .== hash) else {
      recent[recentCount & 7] = hash
      recentCount &+= 1
      return
    }
    candidateStream = stream
    guard !Self.areEqual(candidate, block) else { return }
    candidate.removeAll(keepingCapacity: true)
    candidate.append(contentsOf: block)
  }

  /// A collision, which a client may cause, makes it be considered early.
  private static func hash(_ block: UnsafeRawBufferPointer) -> UInt16 {
    var hash = UInt64(truncatingIfNeeded: block.count)
    func add(_ value: UInt64) { hash = (hash ^ value ^ hash >> 32) &* 0x9e37_79b9_7f4a_7c15 }
    var offset = 0
    while offset + 8 <= block.count {
      add(block.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      offset += 8
    }
    while offset < block.count {
      add(UInt64(block[offset]))
      offset += 1
    }
    return UInt16(truncatingIfNeeded: hash >> 48)
  }

  /// Called when a block changes the table, or may do so.
  func forget() {
    candidateStream = 0
    guard !entries.isEmpty else { return }
    entries.removeAll(keepingCapacity: true)
    (used, hand) = (0, 0)
  }

  /// Whether a stream that has received its head may keep it.
  var isWaiting: Bool { candidateStream != 0 }

  func stopWaiting() { candidateStream = 0 }

  /// Whether a stream's head is to be kept, if that is possible.
  @inline(__always)
  func awaits(_ stream: Int32) -> Bool { candidateStream == stream }

  /// Remembers the candidate, of which its stream has kept this.
  func keep(_ kept: any KeptHead) {
    candidateStream = 0
    guard let standIn = Self.standIn(for: kept), makePlace() else { return }
    let entry = Entry(block: candidate, kept: kept, standIn: standIn)
    candidate = []
    used |= 1 << UInt8(hand)
    if hand < entries.count { entries[hand] = entry } else { entries.append(entry) }
    hand = (hand + 1) % Self.capacity
  }

  /// Whether there is a place at the hand: a free one, or one that was not in use.
  private func makePlace() -> Bool {
    guard hand < entries.count, used & 1 << UInt8(hand) != 0 else { return true }
    used &= ~(1 << UInt8(hand))
    hand = (hand + 1) % Self.capacity
    return false
  }

  // MARK: Stand-ins

  /// The frame that nghttp2 receives instead: one of the shortest request, `POST http /` to the authority `a`.
  private static let standIn: [UInt8] = frame(withBlock: [0x83, 0x86, 0x84, 0x01, 1, UInt8(ascii: "a")])

  /// The same for a head with `content-length`, with which nghttp2 compares the body. `nil` if that has so many digits that
  /// their number would take more than a byte: they may all be zeros.
  private static func standIn(for kept: any KeptHead) -> [UInt8]? {
    guard let length = kept.value(of: "content-length") else { return standIn }
    guard length.utf8.count < 0x7f else { return nil }
    // A literal that is not added to the table. Its name is entry 28 of the static one.
    return frame(
      withBlock: standIn[FloodGuard.headSize...] + [0x0f, 0x0d, UInt8(length.utf8.count)] + length.utf8
    )
  }

  private static func frame(withBlock block: [UInt8]) -> [UInt8] {
    [0, 0, UInt8(block.count), UInt8(NGHTTP2_HEADERS.rawValue), 0, 0, 0, 0, 0] + block
  }
}

import Testing

@testable import SwitchboardNetwork

@Suite struct ArenaTests {
  private let slabs = ArenaSlabs()

  /// An arena in which everything is in use.
  private func take() throws -> Arena {
    let arena = try #require(slabs.take())
    var block = Arena.allocate(1, at: arena.base)
    while block != nil { block = Arena.allocate(1, at: arena.base) }
    return arena
  }

  private func bytes(_ arena: Arena) -> UnsafeMutableRawBufferPointer {
    UnsafeMutableRawBufferPointer(start: arena.base, count: ArenaSlabs.arenaSize)
  }

  @Test(arguments: [1, 2, 3, 5, 7, 8, 11, 16, 19, 40]) func packingAndUnpackingKeepsTheContent(_ step: Int)
    throws
  {
    let arena = try take()
    defer { slabs.giveBack(arena) }
    // Runs and gaps of all lengths, at any offset, and something at the very end.
    var (offset, runs) = (16, 0)
    while offset < ArenaSlabs.arenaSize {
      runs += step
      let end = min(offset + 1 + runs % 41, ArenaSlabs.arenaSize)
      for index in offset..<end { bytes(arena)[index] = UInt8(truncatingIfNeeded: index &* runs) }
      offset = end + runs * runs % 997
    }
    bytes(arena)[ArenaSlabs.arenaSize - 1] = 1
    let before = Array(bytes(arena))
    let copy = try #require(arena.pack())
    #expect(bytes(arena).allSatisfy { $0 == 0 })
    arena.unpack(copy)
    #expect(Array(bytes(arena)) == before)
  }

  @Test func anEmptyArenaCanBePacked() throws {
    let arena = try #require(slabs.take())
    defer { slabs.giveBack(arena) }
    let copy = try #require(arena.pack())
    arena.unpack(copy)
    #expect(bytes(arena).allSatisfy { $0 == 0 })
  }

  @Test func anArenaWithTooMuchContentIsNotPacked() throws {
    let arena = try take()
    defer { slabs.giveBack(arena) }
    for index in 4096..<30_000 { bytes(arena)[index] = 7 }
    let before = Array(bytes(arena))
    #expect(arena.pack() == nil)
    #expect(Array(bytes(arena)) == before)
  }

  @Test func releasedBlocksAreNotPacked() throws {
    let arena = try #require(slabs.take())
    defer { slabs.giveBack(arena) }
    let first = try #require(Arena.allocate(100, at: arena.base))
    let second = try #require(Arena.allocate(20_000, at: arena.base))
    second.initializeMemory(as: UInt8.self, repeating: 9, count: 20_000)
    Arena.release(20_000, from: second - arena.base, at: arena.base)
    #expect(Arena.allocate(10, at: arena.base) == second)
    // Something else was taken after it.
    Arena.release(100, from: first - arena.base, at: arena.base)
    #expect(Arena.allocate(10, at: arena.base) == second + 16)
    let copy = try #require(arena.pack())
    arena.unpack(copy)
    #expect(second.load(as: UInt8.self) == 9)
    #expect(second.load(fromByteOffset: 1000, as: UInt8.self) == 0)
  }

  /// An arena with two blocks full of bytes.
  private func filled() throws -> (Arena, UnsafeMutableRawBufferPointer, UnsafeMutableRawBufferPointer) {
    let arena = try #require(slabs.take())
    let blocks = try (1...2).map { value in
      let start: UnsafeMutableRawPointer = try #require(Arena.allocate(20_000, at: arena.base))
      let block = UnsafeMutableRawBufferPointer(start: start, count: 20_000)
      block.initializeMemory(as: UInt8.self, repeating: UInt8(value))
      return block
    }
    return (arena, blocks[0], blocks[1])
  }

  private func part(_ block: UnsafeMutableRawBufferPointer, _ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: block[range])
  }

  @Test func consumedBytesAreDroppedWhenPacking() throws {
    let (arena, first, second) = try filled()
    defer { slabs.giveBack(arena) }
    // Another block, before which there were others.
    arena.noteConsumed(part(first, 0..<20_000))
    arena.noteConsumed(part(second, 5000..<12_000))
    arena.noteConsumed(part(second, 100..<6000))
    // Memory of others.
    arena.noteConsumed(UnsafeRawBufferPointer(start: arena.base + arena.size, count: 10))
    #expect(arena.pack() == nil)
    #expect(arena.pack(droppingConsumed: true) == nil)
    #expect(first.allSatisfy { $0 == 1 })
    #expect(second[..<100].allSatisfy { $0 == 2 } && second[12_000...].allSatisfy { $0 == 2 })
    #expect(second[100..<12_000].allSatisfy { $0 == 0 })
    arena.noteConsumed(part(first, 0..<20_000))
    let copy = try #require(arena.pack(droppingConsumed: true))
    arena.unpack(copy)
    #expect(first.allSatisfy { $0 == 0 } && second[12_000...].allSatisfy { $0 == 2 })
  }

  /// Something else may be in its place.
  @Test func releasedBlocksAreNoLongerConsumed() throws {
    let (arena, first, second) = try filled()
    defer { slabs.giveBack(arena) }
    arena.noteConsumed(part(second, 0..<20_000))
    Arena.release(20_000, from: try #require(second.baseAddress) - arena.base, at: arena.base)
    #expect(Arena.allocate(20_000, at: arena.base) == second.baseAddress)
    #expect(arena.pack(droppingConsumed: true) == nil)
    #expect(first.allSatisfy { $0 == 1 } && second.allSatisfy { $0 == 2 })
  }

  @Test(arguments: [-1, ArenaSlabs.arenaSize - 15, ArenaSlabs.arenaSize, .max])
  func impossibleSizesAreRefused(_ byteCount: Int) throws {
    let arena = try #require(slabs.take())
    defer { slabs.giveBack(arena) }
    #expect(Arena.allocate(byteCount, at: arena.base) == nil)
    #expect(Arena.allocate(ArenaSlabs.arenaSize - 16, at: arena.base) == arena.base + 16)
    #expect(Arena.allocate(0, at: arena.base) == arena.base + ArenaSlabs.arenaSize)
    #expect(Arena.allocate(1, at: arena.base) == nil)
  }

  @Test func aReusedArenaIsZeroed() throws {
    let arena = try take()
    bytes(arena).initializeMemory(as: UInt8.self, repeating: 1)
    slabs.giveBack(arena)
    let next = try #require(slabs.take())
    defer { slabs.giveBack(next) }
    #expect(next.base == arena.base)
    #expect(bytes(next).allSatisfy { $0 == 0 })
  }

  @Test func arenasDoNotOverlap() throws {
    var arenas = (0..<200).compactMap { _ in slabs.take() }
    #expect(arenas.count == 200)
    for round in 0..<3 {
      let starts = arenas.map { Int(bitPattern: $0.base) }.sorted()
      #expect(zip(starts, starts.dropFirst()).allSatisfy { $1 - $0 >= ArenaSlabs.arenaSize })
      // Releases whole slabs, in another order each time.
      arenas.shuffle()
      while arenas.count > 20 * round { if let arena = arenas.popLast() { slabs.giveBack(arena) } }
      while arenas.count < 200 { arenas.append(try #require(slabs.take())) }
    }
    for arena in arenas { slabs.giveBack(arena) }
  }
}

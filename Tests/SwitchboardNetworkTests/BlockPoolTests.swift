import Testing

@testable import SwitchboardNetwork

@Suite(.timeLimit(.minutes(5))) struct BlockPoolTests {
  /// Runs `body` on a new loop, whose pool is unused otherwise.
  private func onLoop<Result: Sendable>(_ body: @escaping @Sendable (BlockPool) -> Result) async throws
    -> Result
  {
    let loop = try #require(Loop())
    try #require(DetachedThread.start { loop.run() })
    defer { loop.stop() }
    return try #require(await loop.find { body(loop.blocks) })
  }

  @Test func aReturnedBlockIsReused() async throws {
    try #expect(
      await onLoop { pool in
        guard let first = pool.take(100), let second = pool.take(100) else { return false }
        pool.giveBack(first)
        // It has the same size class, and is the only one in the pool.
        guard let third = pool.take(120), let other = pool.take(200) else { return false }
        defer { for block in [second, third, other] { pool.giveBack(block) } }
        return third == first && other != second
      }
    )
  }

  @Test func blocksHaveTheRequestedSize() async throws {
    try #expect(
      await onLoop { pool in
        let sizes = [0, 1, 32, 33, 511, 512, 513, 100_000]
        let blocks = sizes.compactMap { size in
          let block = pool.take(size)
          block?.initializeMemory(as: UInt8.self, repeating: UInt8(truncatingIfNeeded: size), count: size)
          return block
        }
        let isIntact = zip(blocks, sizes).allSatisfy { block, size in
          Int(bitPattern: block) % 16 == 0
            && UnsafeRawBufferPointer(start: block, count: size)
              .allSatisfy { $0 == UInt8(truncatingIfNeeded: size) }
        }
        for block in blocks { pool.giveBack(block) }
        return blocks.count == sizes.count && isIntact
      }
    )
  }

  @Test func growingKeepsTheContent() async throws {
    try #expect(
      await onLoop { pool in
        guard let small = pool.take(40) else { return false }
        small.initializeMemory(as: UInt8.self, repeating: 7, count: 40)
        guard pool.grow(small, to: 64) == small, let large = pool.grow(small, to: 5000) else { return false }
        defer { pool.giveBack(large) }
        return large != small && UnsafeRawBufferPointer(start: large, count: 40).allSatisfy { $0 == 7 }
      }
    )
  }

  @Test func impossibleSizesAreRefused() async throws {
    try #expect(await onLoop { pool in pool.take(-1) == nil && pool.take(.max) == nil })
  }

  @Test func aBlockReleasedOnAnotherThreadGoesToTheSystem() async throws {
    let loop = try #require(Loop())
    try #require(DetachedThread.start { loop.run() })
    defer { loop.stop() }
    let taken = await loop.find { loop.blocks.take(48).map(UInt.init(bitPattern:)) }
    let block = try #require(taken.flatMap(UnsafeMutableRawPointer.init(bitPattern:)))
    loop.blocks.giveBack(block)
    #expect(await loop.find { loop.blocks.keptByteCount } == 0)
  }

  @Test func noMoreIsKeptThanTheLimit() async throws {
    try #expect(
      await onLoop { pool in
        let blocks = (0..<3000).compactMap { _ in pool.take(512) }
        for block in blocks { pool.giveBack(block) }
        return blocks.count == 3000 && pool.keptByteCount == BlockPool.limit
      }
    )
  }
}

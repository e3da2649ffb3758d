import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct HeaderBlockSizeTests {
  @Test func aBlockIsFreeUpToTheLimit() {
    var block = HeaderBlockSize(free: 1000)
    #expect(block.isFree(with: 1000) && !block.isFree(with: 1001))
    #expect(block.add(1000) && !block.takeCharge() && !block.isFree(with: 1))
    let isStillFree = block.add(1)
    #expect(!isStillFree)
  }

  @Test func eachKilobyteAboveIsChargedOnce() {
    var block = HeaderBlockSize(free: 1000)
    #expect(!block.add(1000 + 1023) && !block.takeCharge())
    #expect(!block.add(1 + 1024) && block.takeCharge() && block.takeCharge() && !block.takeCharge())
    block.begin()
    #expect(block.add(1000) && !block.takeCharge())
  }

  @Test(arguments: [(1000, 256 * 1024), (1 << 20, 4 << 20)])
  func aBlockIsTooLargeAboveItsLastLimit(free: Int, limit: Int) {
    var block = HeaderBlockSize(free: free)
    _ = block.add(limit)
    #expect(!block.isTooLarge)
    _ = block.add(1)
    #expect(block.isTooLarge)
  }
}

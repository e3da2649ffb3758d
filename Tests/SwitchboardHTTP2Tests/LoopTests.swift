import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

@Suite(.timeLimit(.minutes(1))) struct LoopTests {
  @Test func workThatAlwaysMakesMoreLetsOtherThreadsIn() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let isOver = Locked(false)
    @Sendable func again() {
      if !isOver.withLock({ $0 }) { loop.execute(again) }
    }
    loop.execute(again)
    // From this thread, while the loop is never without work of its own.
    loop.execute { isOver.withLock { $0 = true } }
    while !Task.isCancelled, !isOver.withLock({ $0 }) { await Task.yield() }
    #expect(isOver.withLock { $0 })
    isOver.withLock { $0 = true }
  }
}

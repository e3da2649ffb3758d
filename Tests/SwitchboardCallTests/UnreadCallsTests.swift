import CallTestSupport
import Testing

@testable import SwitchboardCall

@Suite(.timeLimit(.minutes(2))) struct UnreadCallsTests {
  private final class Ends: Sendable {
    private let state = Locked(0)
    var count: Int { state.withLock { $0 } }
    func add() { state.withLock { $0 += 1 } }
  }

  private let calls = UnreadCalls()
  private let time = ManualTime()
  private let ends = Ends()

  /// Shuts down with a grace of ten minutes, and returns once that is waited for.
  private func shutDown() async -> Task<Void, Never> {
    let end = time.now.advanced(by: .seconds(600))
    let shutdown = Task { [calls, time] in await calls.end(at: end, by: time, on: TestLoop()) }
    #expect(await time.nextWait() == .seconds(600))
    return shutdown
  }

  @Test func aCallThatComesAfterTheShutdownEndsAtOnce() async {
    let first = calls.add(ends.add)
    let shutdown = await shutDown()
    calls.remove(first)
    await shutdown.value
    #expect(ends.count == 0)
    calls.remove(calls.add(ends.add))
    #expect(ends.count == 1)
  }

  @Test func aCallThatIsLeftEndsWithTheGrace() async {
    let number = calls.add(ends.add)
    let shutdown = await shutDown()
    time.advance(by: .seconds(600))
    while !Task.isCancelled, ends.count == 0 { await Task.yield() }
    calls.remove(number)
    await shutdown.value
    #expect(ends.count == 1)
  }
}

import Glibc
import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import Testing

/// Signals get their previous handlers back after watching. The tests use signals that nothing else uses.
@Suite(.timeLimit(.minutes(5))) struct SignalWatcherTests {
  private static let first: @convention(c) (Int32) -> Void = { _ in }
  private static let second: @convention(c) (Int32) -> Void = { _ in }

  private func address(_ handler: (@convention(c) (Int32) -> Void)?) -> Int {
    unsafeBitCast(handler, to: Int.self)
  }

  private func handler(of number: Int32) -> Int {
    var action = sigaction()
    #expect(sigaction(number, nil, &action) == 0)
    return address(action.__sigaction_handler.sa_handler)
  }

  /// Watches for a signal on a loop while `body` runs.
  private func watching(_ number: Int32, on loop: Loop, _ body: () async -> Void) async {
    let watcher = await loop.onLoop { Kept(SignalWatcher([number], on: loop) {}) }
    await body()
    await loop.onLoop { watcher.value.finish() }
  }

  /// Used only on the loop.
  private struct Kept: @unchecked Sendable {
    let value: SignalWatcher

    init(_ value: SignalWatcher) { self.value = value }
  }

  @Test func thePreviousHandlerIsRestored() async throws {
    let number = SIGWINCH
    signal(number, Self.first)
    defer { signal(number, SIG_DFL) }
    let group = try LoopGroup(count: 2)
    let (loops, before) = (group.loops, address(Self.first))
    await watching(number, on: loops[0]) {
      #expect(handler(of: number) != before)
      // The first watcher that stops must not take the signal from the other.
      await watching(number, on: loops[1]) {}
      #expect(handler(of: number) != before)
    }
    #expect(handler(of: number) == before)
    await watching(number, on: loops[0]) {}
    #expect(handler(of: number) == before)
  }

  @Test func aHandlerInstalledMeanwhileStays() async throws {
    let number = SIGURG
    signal(number, Self.first)
    defer { signal(number, SIG_DFL) }
    let group = try LoopGroup()
    await watching(number, on: group.loops[0]) { signal(number, Self.second) }
    #expect(handler(of: number) == address(Self.second))
    // A later watcher must not take the handler of the first one for the previous handler.
    signal(number, Self.first)
    await watching(number, on: group.loops[0]) {
      signal(number, Self.second)
      await watching(number, on: group.loops[0]) {}
      #expect(handler(of: number) == address(Self.second))
    }
    #expect(handler(of: number) == address(Self.second))
  }

  /// As for what a shell starts in the background: the next signal must not be ignored, if one has come.
  @Test func aSignalThatWasIgnoredHasItsEffectOnceOneHasCome() async throws {
    // It has none by default.
    let number = SIGCONT
    signal(number, SIG_IGN)
    defer { signal(number, SIG_DFL) }
    let group = try LoopGroup()
    let loop = group.loops[0]
    await watching(number, on: loop) {}
    #expect(handler(of: number) == address(SIG_IGN))
    await withCheckedContinuation { continuation in
      loop.execute {
        let watcher = SignalWatcher([number], on: loop) { continuation.resume() }
        kill(getpid(), number)
        withExtendedLifetime(watcher) {}
      }
    }
    #expect(handler(of: number) == address(SIG_DFL))
  }
}

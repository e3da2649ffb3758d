import Glibc
import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

/// What signals did before somebody watched for them, they do again afterwards. Signals of no use to anyone else.
@Suite(.timeLimit(.minutes(1))) struct SignalWatcherTests {
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

  /// Watches in a loop for as long as the body takes.
  private func watching(_ number: Int32, on loop: Loop, _ body: () async -> Void) async {
    let watcher = await loop.onLoop { Kept(SignalWatcher([number], on: loop) {}) }
    await body()
    await loop.onLoop { watcher.value.finish() }
  }

  /// Used on the loop alone.
  private struct Kept: @unchecked Sendable {
    let value: SignalWatcher

    init(_ value: SignalWatcher) { self.value = value }
  }

  @Test func theHandlerThatWasThereComesBack() async throws {
    let number = SIGWINCH
    signal(number, Self.first)
    defer { signal(number, SIG_DFL) }
    let group = try LoopGroup(count: 2)
    let (loops, before) = (group.loops, address(Self.first))
    await watching(number, on: loops[0]) {
      #expect(handler(of: number) != before)
      // The first of two to stop must not take the signal from the other.
      await watching(number, on: loops[1]) {}
      #expect(handler(of: number) != before)
    }
    #expect(handler(of: number) == before)
    await watching(number, on: loops[0]) {}
    #expect(handler(of: number) == before)
  }

  @Test func aHandlerThatWasPutThereMeanwhileStays() async throws {
    let number = SIGURG
    signal(number, Self.first)
    defer { signal(number, SIG_DFL) }
    let group = try LoopGroup()
    await watching(number, on: group.loops[0]) { signal(number, Self.second) }
    #expect(handler(of: number) == address(Self.second))
    // A watcher that comes later must not take it for what the first has put there.
    signal(number, Self.first)
    await watching(number, on: group.loops[0]) {
      signal(number, Self.second)
      await watching(number, on: group.loops[0]) {}
      #expect(handler(of: number) == address(Self.second))
    }
    #expect(handler(of: number) == address(Self.second))
  }
}

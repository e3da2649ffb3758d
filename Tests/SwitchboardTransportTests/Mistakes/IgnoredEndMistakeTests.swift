import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A handler that lets the errors of a call pass that has ended runs forever, and is named in the log.
@Suite(.timeLimit(.minutes(5))) struct IgnoredEndMistakeTests {
  private struct Ticker: CallHandlerProvider {
    static let watch = MethodDescriptor(service: "test.Ticker", method: "Watch", type: .serverStreaming)

    let hasInterceptor: Bool
    let count: Int
    let isRunning = Signal()
    /// The handler tries to send at each of these.
    let steps = (0..<4).map { _ in Signal() }
    let tries = (0..<4).map { _ in Signal() }

    var serviceName: String { "test.Ticker" }

    var methodHandlers: [MethodHandler] {
      let make: @Sendable () -> [ServerInterceptor<[UInt8], [UInt8]>] = {
        hasInterceptor ? [ServerInterceptor()] : []
      }
      return [
        Self.watch.bytes.serverStreamingHandler(interceptors: make) { _, responses, _ in
          try await responses.send([0])
          isRunning.fire()
          for (step, tried) in zip(steps, tries).prefix(count) {
            await step.wait()
            try? await responses.send([1])
            tried.fire()
          }
        }
      ]
    }
  }

  /// The warnings about a handler that tries to send at the end of its call, and so many seconds later.
  private func warnings(_ hasInterceptor: Bool, after times: [Int]) async throws -> [LogEntries.Entry] {
    let ticker = Ticker(hasInterceptor: hasInterceptor, count: times.count)
    let (entries, group) = (LogEntries(), try LoopGroup())
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    options.blockedLoopLimit = nil
    try await withPair([ticker], options: options, group: group) { pair async throws in
      let call = pair.channel.call(Ticker.watch).makeServerStreamingCall([])
      await ticker.isRunning.wait()
      call.cancel()
      let core = pair.server.core
      await group.loops[0].until { core.connections.allSatisfy { $0.openStreams == 0 } }
      var passed = 0
      for (index, time) in times.enumerated() {
        await group.loops[0].advance(by: .seconds(time - passed))
        passed = time
        ticker.steps[index].fire()
        await ticker.tries[index].wait()
      }
      await group.loops[0].until { core.connections.allSatisfy { $0.runningHandlers == 0 } }
    }
    return entries.all
  }

  @Test(arguments: [false, true]) func aHandlerThatGoesOnIsNamed(_ hasInterceptor: Bool) async throws {
    let entries = try await warnings(hasInterceptor, after: [1, 2, 7, 8])
    #expect(entries.map { $0.metadata["method"] } == ["/test.Ticker/Watch"])
    #expect(entries.first?.message.hasPrefix("a handler goes on after its call has ended") == true)
    #expect(entries.first?.metadata["after"]?.hasSuffix(" s") == true)
    #expect(entries.first?.metadata["error"]?.contains("write try in place of try?") == true)
  }

  /// It learns of the end when it sends, however late that is, and another of its tasks does.
  @Test(arguments: [false, true]) func aHandlerThatLearnsLateIsNot(_ hasInterceptor: Bool) async throws {
    #expect(try await warnings(hasInterceptor, after: [60, 61]).isEmpty)
    #expect(try await warnings(hasInterceptor, after: [1, 60]).isEmpty)
  }

  /// Tasks on several threads come out of order: the first to be counted may have read the clock after another.
  @Test func usesOnSeveralThreadsAreCounted() async throws {
    let group = try LoopGroup()
    let handler = try #require(Ticker(hasInterceptor: false, count: 0).methodHandlers.first)
    let method = RPCMethod(handler, formats: [], placement: HandlerPlacements().placement(of: Ticker.watch))
    for _ in 0..<200 {
      let end = IgnoredEnd(method, ServerLog(ServerOptions()), group.nextLoop())
      await withTaskGroup { tasks in
        for _ in 0..<8 { tasks.addTask { for _ in 0..<50 { end.pipeWasUsedLate(.written) } } }
      }
    }
  }
}

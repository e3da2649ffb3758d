import Dispatch
import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// Executors in a chain must not change which interceptors learn of the end, nor that writers wait.
@Suite(.timeLimit(.minutes(5))) struct DetourTests {
  /// One interceptor off the loop between two on it.
  private static func chain(_ log: Log) -> [EchoClientInterceptor] {
    let executor = InterceptorExecutor(queue: DispatchQueue(label: "own"))
    return [
      ClientRecorder("1", log), OffLoopClientRecorder("2", log, executor, executor), ClientRecorder("3", log),
    ]
  }

  @Test func aCancellationPassesTheWholeChain() async throws {
    let log = Log()
    try await EchoPair.with(failing: true) { pair async throws in
      let call = pair.client { Self.chain(log) }.makeCollectCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      while !Task.isCancelled, !log.lines.contains("3 > x") { await Task.yield() }
      call.cancel()
      #expect(await call.status.code == .cancelled)
    }
    #expect(log.lines.filter { $0.hasSuffix("cancel") } == ["1 > cancel", "2 > cancel", "3 > cancel"])
    #expect(notified(log).map { $0.prefix(1) } == ["3", "2", "1"])
  }

  @Test(arguments: 0..<20)
  func everyInterceptorSeesTheDeadlineOnce(_ time: Int) async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [Silent()] }
    try await EchoPair.with(server: make) { pair async throws in
      let call = pair.client(timeout: .milliseconds(20)) { Self.chain(log) }.makeCollectCall()
      #expect(await call.status.code == .deadlineExceeded)
    }
    #expect(notified(log).map { $0.prefix(1) } == ["3", "2", "1"])
  }

  private func notified(_ log: Log) -> [String] { log.lines.filter { $0.contains("<") } }

  @Test func aBusyExecutorMakesTheClientsWriterWait() async throws {
    let queue = BusyQueue()
    let sent = LiveCount()
    try await EchoPair.with { pair async throws in
      let client = pair.client { [Elsewhere(InterceptorExecutor(queue: queue.queue))] }
      let call = client.makeCollectCall()
      let writer = Task {
        for _ in 0..<Generous.count {
          try await call.requestStream.send(Echo_EchoRequest("x"))
          sent.add(1)
        }
      }
      await takeTurns(on: pair.channel.eventLoop)
      #expect(sent.count < 1000)
      queue.proceed()
      try await writer.value
      call.requestStream.finish()
      #expect(try await call.response.text.count == Generous.count)
    }
  }

  @Test func aBusyExecutorMakesTheServersWriterWait() async throws {
    let queue = BusyQueue()
    let sent = LiveCount()
    let provider = Generous(queue.queue, sent)
    try await withChannel(to: [provider]) { channel async throws in
      let call = Echo_EchoClient(channel: channel).makeExpandCall(Echo_EchoRequest("x"))
      while !Task.isCancelled, sent.count == 0 { await Task.yield() }
      await takeTurns(on: channel.eventLoop)
      #expect(sent.count < 1000)
      queue.proceed()
      var received = 0
      for try await _ in call.responseStream { received += 1 }
      #expect(received == Generous.count)
    }
  }

  /// Long enough for an unhindered writer to write thousands of messages.
  private func takeTurns(on eventLoop: any EventLoop) async {
    for _ in 0..<1000 {
      await Task(executorPreference: eventLoop) {}.value
      await Task.yield()
    }
  }
}

/// A queue that runs nothing until `proceed`.
private struct BusyQueue: Sendable {
  let queue = DispatchQueue(label: "busy")

  init() { queue.suspend() }

  func proceed() { queue.resume() }
}

private final class Elsewhere: EchoClientInterceptor {
  private let executor: InterceptorExecutor

  init(_ executor: InterceptorExecutor) { self.executor = executor }

  override var requestExecutor: InterceptorExecutor? { executor }
}

private final class ElsewhereOnTheServer: EchoServerInterceptor {
  private let executor: InterceptorExecutor

  init(_ executor: InterceptorExecutor) { self.executor = executor }

  override var responseExecutor: InterceptorExecutor? { executor }
}

/// Forwards nothing.
private final class Silent: EchoServerInterceptor {
  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {}
  override func errorCaught(_ error: any Error, context: EchoServerContext) {}
}

/// Answers with many responses, and counts those that it could write.
private struct Generous: CallHandlerProvider {
  /// Far more than may be in flight on an executor.
  static let count = 4000
  let serviceName = Echo_EchoMetadata.service.name
  let methodHandlers: [MethodHandler]

  init(_ queue: DispatchQueue, _ sent: LiveCount) {
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [ElsewhereOnTheServer(InterceptorExecutor(queue: queue))]
    }
    let method = Echo_EchoMetadata.Methods.expand
    let expand = method.serverStreamingHandler(interceptors: make) { _, responses, _ in
      for _ in 0..<Self.count {
        try await responses.send(Echo_EchoResponse())
        sent.add(1)
      }
    }
    methodHandlers = [expand]
  }
}

import Dispatch
import EchoService
import Switchboard
import Synchronization
import Testing

/// Interceptors on queues and executors of their own.
@Suite(.timeLimit(.minutes(5))) struct ExecutorTests {
  enum Kind: CaseIterable {
    case serialQueue, concurrentQueue, taskExecutor, serialExecutor
  }

  private static func makeExecutor(_ kind: Kind) -> InterceptorExecutor {
    switch kind {
    case .serialQueue: InterceptorExecutor(queue: DispatchQueue(label: "serial"))
    case .concurrentQueue:
      InterceptorExecutor(queue: DispatchQueue(label: "concurrent", attributes: .concurrent))
    case .taskExecutor: InterceptorExecutor(taskExecutor: globalConcurrentExecutor)
    case .serialExecutor: InterceptorExecutor(serialExecutor: QueueExecutor())
    }
  }

  @Test(arguments: Kind.allCases)
  func partsStayInOrderAcrossHops(_ kind: Kind) async throws {
    let log = Log()
    let server: @Sendable () -> [EchoServerInterceptor] = {
      let executor = Self.makeExecutor(kind)
      return [OffLoopServerRecorder("s", log, executor, executor)]
    }
    try await EchoPair.with(server: server) { pair async throws in
      let client = pair.client {
        let executor = Self.makeExecutor(kind)
        return [OffLoopClientRecorder("c", log, executor, executor)]
      }
      let words = (0..<200).map { String($0) }
      let requests = words.map { Echo_EchoRequest($0) }
      #expect(try await client.update(requests).collected().map(\.text) == words)
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
      #expect(
        log.lines.filter { $0.hasPrefix("c >") }
          == ["c > metadata"] + words.map { "c > \($0)" } + ["c > end", "c > metadata", "c > x", "c > end"]
      )
      #expect(
        log.lines.filter { $0.hasPrefix("s <") }.filter { $0 != "s < metadata" }.prefix(200)
          == words.map { "s < \($0)" }[...]
      )
    }
    #expect(!log.lines.contains("on the loop"))
  }

  @Test func requestsAndResponsesCanGoToDifferentQueues() async throws {
    let log = Log()
    let (requests, responses) = (DispatchQueue(label: "out"), DispatchQueue(label: "in"))
    requests.setSpecific(key: queueName, value: "out")
    responses.setSpecific(key: queueName, value: "in")
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          QueueNamingInterceptor(
            log,
            InterceptorExecutor(queue: requests),
            InterceptorExecutor(queue: responses)
          )
        ]
      }
      _ = try await client.get(Echo_EchoRequest("x"))
    }
    #expect(log.lines == ["out", "out", "out", "in", "in", "in"])
  }

  @Test func withoutAnExecutorThereIsNoHop() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientHook(
            send: { part, promise, context in
              log.note("\(context.eventLoop.inEventLoop)")
              context.send(part, promise: promise)
            },
            receive: { part, context in
              log.note("\(context.eventLoop.inEventLoop)")
              context.receive(part)
            }
          )
        ]
      }
      _ = try await client.get(Echo_EchoRequest("x"))
    }
    #expect(log.lines == Array(repeating: "true", count: 6))
  }

  @Test func optionsCanBeChangedFromAnExecutor() async throws {
    let log = Log()
    let server: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(receive: { part, context in
          if case .metadata = part { log.note(context.deadline == nil ? "no deadline" : "deadline") }
          context.receive(part)
        })
      ]
    }
    try await EchoPair.with(server: server) { pair async throws in
      let client = pair.client(timeout: nil) {
        [TimeoutSetter(InterceptorExecutor(queue: DispatchQueue(label: "own")))]
      }
      _ = try await client.get(Echo_EchoRequest("x"))
    }
    #expect(log.lines == ["deadline"])
  }
}

private let queueName = DispatchSpecificKey<String>()

private final class QueueExecutor: SerialExecutor {
  private let queue = DispatchQueue(label: "executor")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

private final class QueueNamingInterceptor: EchoClientInterceptor {
  private let log: Log
  private let executors: (InterceptorExecutor, InterceptorExecutor)

  init(_ log: Log, _ requests: InterceptorExecutor, _ responses: InterceptorExecutor) {
    self.log = log
    executors = (requests, responses)
  }

  override var requestExecutor: InterceptorExecutor? { executors.0 }
  override var responseExecutor: InterceptorExecutor? { executors.1 }

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    log.note(DispatchQueue.getSpecific(key: queueName) ?? "elsewhere")
    context.send(part, promise: promise)
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    log.note(DispatchQueue.getSpecific(key: queueName) ?? "elsewhere")
    context.receive(part)
  }
}

private final class TimeoutSetter: EchoClientInterceptor {
  private let executor: InterceptorExecutor

  init(_ executor: InterceptorExecutor) { self.executor = executor }

  override var requestExecutor: InterceptorExecutor? { executor }

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    if case .metadata = part { context.options.timeout = .seconds(300) }
    context.send(part, promise: promise)
  }
}

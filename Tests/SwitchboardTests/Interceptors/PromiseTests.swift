import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// Every promise completes once: it succeeds when its part is sent, and fails if it never will be.
@Suite(.timeLimit(.minutes(5))) struct PromiseTests {
  @Test(arguments: [GRPCCallType.unary, .bidirectionalStreaming])
  func promisesOfSentClientPartsSucceed(_ type: GRPCCallType) async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientHook(send: { part, _, context in
            let promise = context.eventLoop.makePromise(of: Void.self)
            let name = name(of: part)
            promise.futureResult.whenComplete { log.note("\(name) \(isSuccess($0))") }
            context.send(part, promise: promise)
          })
        ]
      }
      if type == .unary {
        _ = try await client.get(Echo_EchoRequest("x"))
      } else {
        _ = try await client.update([Echo_EchoRequest("x"), Echo_EchoRequest("y")]).collected()
      }
    }
    let messages = Array(repeating: "message true", count: type == .unary ? 1 : 2)
    #expect(log.lines == ["metadata true"] + messages + ["end true"])
  }

  @Test(arguments: [GRPCCallType.unary, .bidirectionalStreaming])
  func promisesOfSentServerPartsSucceed(_ type: GRPCCallType) async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(send: { part, _, context in
          let promise = context.eventLoop.makePromise(of: Void.self)
          let name = name(of: part)
          promise.futureResult.whenComplete { log.note("\(name) \(isSuccess($0))") }
          context.send(part, promise: promise)
        })
      ]
    }
    let isUnary = type == .unary
    try await EchoPair.with(server: make) { pair async throws in
      if isUnary {
        _ = try await pair.client().get(Echo_EchoRequest("x"))
      } else {
        _ = try await pair.client().update([Echo_EchoRequest("x"), Echo_EchoRequest("y")]).collected()
      }
      let messages = Array(repeating: "message true", count: isUnary ? 1 : 2)
      #expect(try await log.lines(atLeast: messages.count + 2) == ["metadata true"] + messages + ["end true"])
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess])
  func thePromiseOfAnEndSucceedsWhileTheHandlerRuns(_ wire: Wire) async throws {
    let log = Log()
    let get = Echo_EchoMetadata.Methods.get.unaryHandler {
      [
        ServerHook(receive: { part, context in
          context.receive(part)
          guard case .end = part else { return }
          let promise = context.eventLoop.makePromise(of: Void.self)
          promise.futureResult.whenComplete { log.note("end \(isSuccess($0))") }
          context.send(.end(GRPCStatus(code: .unauthenticated), HPACKHeaders()), promise: promise)
        })
      ]
    } _: { _, _ in
      try await Task.sleep(for: .seconds(300))
      return Echo_EchoResponse()
    }
    try await withChannel(to: [ServiceHandlers(Echo_EchoMetadata.service, [get])], over: wire) {
      channel async throws in
      let client = Echo_EchoClient(channel: channel)
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unauthenticated)
      #expect(try await log.lines(atLeast: 1) == ["end true"])
    }
  }

  @Test func promisesOfUnsendablePartsFail() async throws {
    let log = Log()
    try await withChannel(to: "127.0.0.1:1") { channel async throws in
      let factory = ClientFactory {
        [
          ClientHook(send: { part, _, context in
            let promise = context.eventLoop.makePromise(of: Void.self)
            let name = name(of: part)
            promise.futureResult.whenComplete { log.note("\(name) \(isSuccess($0))") }
            context.send(part, promise: promise)
          })
        ]
      }
      let client = Echo_EchoClient(channel: channel, interceptors: factory)
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unavailable)
      #expect(log.lines == ["metadata false", "message false", "end false"])
    }
  }

  enum Outcome: CaseIterable {
    case cancelled, late, lost, refused
  }

  /// More is written than the windows hold, to a handler that does not read; then the call ends.
  @Test(arguments: Outcome.allCases)
  func promisesOfWaitingClientPartsFailWithTheirCall(_ outcome: Outcome) async throws {
    let (log, sent) = (Log(), 200)
    let refusals = Locked<[@Sendable () -> Void]>([])
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(receive: { part, context in
          let refuse: @Sendable () -> Void = {
            context.send(.end(GRPCStatus(code: .permissionDenied), HPACKHeaders()), promise: nil)
          }
          refusals.withLock { $0.append(refuse) }
        })
      ]
    }
    try await withPair([TutorialProvider(interceptors: ServerFactory(make: make))]) { pair async throws in
      let (server, channel) = (pair.server, pair.channel)
      let factory = ClientFactory {
        [
          ClientHook(send: { part, promise, context in
            context.send(part, promise: promise)
            guard case .metadata = part else { return }
            let message = Echo_EchoRequest(String(repeating: "x", count: 64 * 1024))
            for _ in 0..<sent {
              let promise = context.eventLoop.makePromise(of: Void.self)
              promise.futureResult.whenComplete { log.note(isSuccess($0) ? "sent" : "failed") }
              context.send(.message(message, MessageMetadata()), promise: promise)
            }
          })
        ]
      }
      // Long enough for some of the messages to be sent first, also on a busy machine.
      let timeout: Duration? = outcome == .late ? .seconds(3) : nil
      let call = Echo_EchoClient(channel: channel, interceptors: factory)
        .makeUpdateCall(callOptions: CallOptions(timeout: timeout))
      _ = try await log.lines(atLeast: 1)
      switch outcome {
      case .cancelled: call.cancel()
      case .late: break
      case .lost: await server.shutDown(grace: .zero)
      case .refused:
        while !Task.isCancelled, refusals.withLock({ $0.isEmpty }) { await Task.yield() }
        for refuse in refusals.withLock({ $0 }) { refuse() }
      }
      let expected: [Outcome: GRPCStatus.Code] = [
        .cancelled: .cancelled, .late: .deadlineExceeded, .lost: .unavailable, .refused: .permissionDenied,
      ]
      #expect(await call.status.code == expected[outcome])
      let results = try await log.lines(atLeast: sent)
      #expect(results.count == sent)
      let first = results.prefix { $0 == "sent" }
      // A deadline may pass before anything is sent.
      #expect(first.count < sent && (!first.isEmpty || outcome == .late))
      #expect(results.dropFirst(first.count).allSatisfy { $0 == "failed" })
    }
  }

  @Test(arguments: [Outcome.cancelled, .lost])
  func promisesOfWaitingServerPartsFailWithTheirCall(_ outcome: Outcome) async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [AnswersTooLate(log)] }
    try await EchoPair.with(server: make) { pair async throws in
      let call = pair.client().makeGetCall(Echo_EchoRequest("x"))
      _ = try await log.lines(atLeast: 1)
      if outcome == .cancelled { call.cancel() } else { await pair.channel.shutDown(grace: .zero) }
      let lines = try await log.lines(atLeast: 5)
      #expect(lines.prefix(2) == ["answered", "error cancelled (1)"])
      #expect(lines.dropFirst(2).sorted() == ["end false", "message false", "metadata false"])
    }
  }

  @Test func promisesOfMetadataFailAfterTheClientDisconnects() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [LateMetadata(log)] }
    try await EchoPair.with(server: make) { pair async throws in
      let call = pair.client().makeGetCall(Echo_EchoRequest("x"))
      _ = try await log.lines(atLeast: 1)
      call.cancel()
      #expect(try await log.lines(atLeast: 3) == ["answered", "failed", "sent"])
    }
  }

  @Test func promisesOfPartsAfterTheEndFail() async throws {
    let kept = Locked<EchoClientContext?>(nil)
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientHook(send: { part, promise, context in
            kept.withLock { $0 = context }
            context.send(part, promise: promise)
          })
        ]
      }
      _ = try await client.get(Echo_EchoRequest("x"))
      let context = try #require(kept.withLock { $0 })
      let promise = context.eventLoop.makePromise(of: Void.self)
      context.send(.message(Echo_EchoRequest("late"), MessageMetadata()), promise: promise)
      #expect(await status { try await promise.futureResult.get() }?.code == .cancelled)
    }
  }

  @Test func aDroppedPromiseFails() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientHook(send: { part, _, context in
            let promise = context.eventLoop.makePromise(of: Void.self)
            let name = name(of: part)
            promise.futureResult.whenComplete { log.note("\(name) \(isSuccess($0))") }
            context.send(part, promise: promise)
          }),
          ClientHook(send: { part, promise, context in
            context.send(part, promise: nil)
          }),
        ]
      }
      _ = try await client.get(Echo_EchoRequest("x"))
    }
    #expect(log.lines == ["metadata false", "message false", "end false"])
  }
}

/// Holds the response back until the call has failed.
private final class AnswersTooLate: EchoServerInterceptor {
  private let log: Log
  private var held: [GRPCServerResponsePart<Echo_EchoResponse>] = []

  init(_ log: Log) { self.log = log }

  override func send(
    _ part: GRPCServerResponsePart<Echo_EchoResponse>,
    promise: EventLoopPromise<Void>?,
    context: EchoServerContext
  ) {
    held.append(part)
    if case .end = part { log.note("answered") }
  }

  override func errorCaught(_ error: any Error, context: EchoServerContext) {
    log.note("error \(GRPCStatus(describing: error).code)")
    for part in held {
      let promise = context.eventLoop.makePromise(of: Void.self)
      let name = name(of: part)
      promise.futureResult.whenComplete { [log] in log.note("\(name) \(isSuccess($0))") }
      context.send(part, promise: promise)
    }
    held = []
  }
}

private func name(of part: GRPCClientRequestPart<Echo_EchoRequest>) -> String {
  switch part {
  case .metadata: "metadata"
  case .message: "message"
  case .end: "end"
  }
}

private func name(of part: GRPCServerResponsePart<Echo_EchoResponse>) -> String {
  switch part {
  case .metadata: "metadata"
  case .message: "message"
  case .end: "end"
  }
}

private func isSuccess(_ result: Result<Void, any Error>) -> Bool {
  if case .success = result { true } else { false }
}

/// Drops the response, and sends metadata when the client has disconnected.
private final class LateMetadata: EchoServerInterceptor {
  private let log: Log

  init(_ log: Log) { self.log = log }

  override func send(
    _ part: GRPCServerResponsePart<Echo_EchoResponse>,
    promise: EventLoopPromise<Void>?,
    context: EchoServerContext
  ) {
    if case .end = part { log.note("answered") }
  }

  override func errorCaught(_ error: any Error, context: EchoServerContext) {
    let promise = context.eventLoop.makePromise(of: Void.self)
    promise.futureResult.whenFailure { [log] _ in log.note("failed") }
    context.send(.metadata([:]), promise: promise)
    log.note("sent")
  }
}

import EchoService
import Switchboard
import Testing

/// Every promise completes once: with success where its part left, with an error where it never will.
@Suite(.timeLimit(.minutes(1))) struct PromiseTests {
  @Test(arguments: [GRPCCallType.unary, .bidirectionalStreaming])
  func clientPartsThatLeaveSucceed(_ type: GRPCCallType) async throws {
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
  func serverPartsThatLeaveSucceed(_ type: GRPCCallType) async throws {
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

  @Test func partsThatCannotLeaveFail() async throws {
    let log = Log()
    let channel = try Channel(target: "127.0.0.1:1")
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
    await channel.shutDown(grace: .zero)
  }

  @Test func partsAfterTheEndFail() async throws {
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

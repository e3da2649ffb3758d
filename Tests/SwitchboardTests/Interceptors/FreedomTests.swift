import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// What interceptors may do with parts: change, drop, delay, answer early, redirect, send again.
@Suite(.timeLimit(.minutes(5))) struct FreedomTests {
  @Test func messagesCanBeChangedInBothDirections() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(
          send: { part, promise, context in
            guard case .message(var message, let metadata) = part else {
              return context.send(part, promise: promise)
            }
            message.text += " 3"
            context.send(.message(message, metadata), promise: promise)
          },
          receive: { part, context in
            guard case .message(var message) = part else { return context.receive(part) }
            message.text += " 2"
            context.receive(.message(message))
          }
        )
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client {
        [
          ClientHook(
            send: { part, promise, context in
              guard case .message(var message, let metadata) = part else {
                return context.send(part, promise: promise)
              }
              message.text += " 1"
              context.send(.message(message, metadata), promise: promise)
            },
            receive: { part, context in
              guard case .message(var message) = part else { return context.receive(part) }
              message.text += " 4"
              context.receive(.message(message))
            }
          )
        ]
      }
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x 1 2 3 4")
    }
  }

  /// Interceptors that keep nothing of a call: one instance on each side serves all calls, here on several threads.
  @Test func oneInstanceCanServeAllCalls() async throws {
    nonisolated(unsafe) let servers: [EchoServerInterceptor] = [
      ServerHook(receive: { part, context in
        guard case .message(var message) = part else { return context.receive(part) }
        message.text += " for \(context.method.method)"
        context.receive(.message(message))
      })
    ]
    nonisolated(unsafe) let clients: [EchoClientInterceptor] = [
      ClientHook(receive: { part, context in
        guard case .message(var message) = part else { return context.receive(part) }
        message.text += " from \(context.method.method)"
        context.receive(.message(message))
      })
    ]
    let makeServers: @Sendable () -> [EchoServerInterceptor] = { servers }
    try await EchoPair.with(server: makeServers) { first async throws in
      try await EchoPair.with(server: makeServers) { second async throws in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<64 {
            let client = (number % 2 == 0 ? first : second).client { clients }
            let request = Echo_EchoRequest("\(number)")
            group.addTask {
              let text = try await client.get(request).text
              #expect(text == "Swift echo get: \(number) for Get from Get")
              let texts = try await client.update([request, request]).collected().map(\.text)
              #expect(texts == Array(repeating: "\(number) for Update from Update", count: 2))
            }
          }
          try await group.waitForAll()
        }
      }
    }
  }

  @Test(arguments: [0, 2])
  func anyNumberOfResponsesButOneIsAnError(_ count: Int) async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientHook(receive: { part, context in
            guard case .message = part else { return context.receive(part) }
            for _ in 0..<count { context.receive(part) }
          })
        ]
      }
      let error = await #expect(throws: GRPCStatus.self) { _ = try await client.get(Echo_EchoRequest("x")) }
      // A server that sends none breaks the rules of gRPC; here an interceptor does.
      #expect(error?.code == (count == 0 ? .unimplemented : .internalError))
    }
  }

  @Test func aCallCanStartLate() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client { [TokenFetcher()] }
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
      #expect(try await client.collect([Echo_EchoRequest("x"), Echo_EchoRequest("y")]).text == "xy")
    }
  }

  @Test func aClientInterceptorCanAnswerWithoutAServer() async throws {
    try await withChannel(to: "127.0.0.1:1") { channel async throws in
      let factory = ClientFactory {
        [
          ClientHook(send: { part, promise, context in
            promise?.succeed()
            guard case .end = part else { return }
            context.receive(.metadata(["from": "here"]))
            context.receive(.message(.with { $0.text = "canned" }))
            context.receive(.end(.ok, HPACKHeaders()))
          })
        ]
      }
      let client = Echo_EchoClient(channel: channel, interceptors: factory)
      #expect(try await client.get(Echo_EchoRequest("x")).text == "canned")
      let call = client.makeGetCall(Echo_EchoRequest("x"))
      #expect(try await call.initialMetadata == ["from": "here"])
      #expect(try await client.expand(Echo_EchoRequest("x")).collected().map(\.text) == ["canned"])
      #expect(try await client.collect([Echo_EchoRequest("x")]).text == "canned")
    }
  }

  @Test func aServerInterceptorCanRefuseACall() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(receive: { part, context in
          guard case .metadata(let headers) = part, !headers.contains(name: "authorization") else {
            return context.receive(part)
          }
          context.send(.end(GRPCStatus(code: .unauthenticated, message: "who?"), ["why": "so"]), promise: nil)
        }),
        ServerRecorder("inner", log),
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let call = pair.client().makeGetCall(Echo_EchoRequest("x"))
      #expect(await call.status == GRPCStatus(code: .unauthenticated, message: "who?"))
      #expect(try await call.trailingMetadata["why"] == ["so"])
      let stream = await status { _ = try await pair.client().update([Echo_EchoRequest("x")]).collected() }
      #expect(stream?.code == .unauthenticated)
      #expect(log.lines.isEmpty)
      var options = CallOptions()
      options.initialMetadata = ["authorization": "yes"]
      #expect(
        try await pair.client().get(Echo_EchoRequest("x"), callOptions: options).text == "Swift echo get: x"
      )
    }
  }

  @Test func aCallCanBeRedirected() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientHook(send: { part, promise, context in
            if case .metadata = part { context.path = "/echo.Echo/Nowhere" }
            context.send(part, promise: promise)
          }),
          ClientRecorder("after", log),
        ]
      }
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unimplemented)
    }
    #expect(log.lines.last == "after < unimplemented (12)")
  }

  @Test func aCallCanBeSentAgain() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = { [Bouncer()] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client { [Replayer()] }
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
  }

  @Test func partsCanBeReordered() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = { [Collector()] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client { [Reverser()] }
      let requests = ["a", "b", "c"].map { Echo_EchoRequest($0) }
      #expect(try await client.update(requests).collected().map(\.text) == ["c", "b", "a"])
      #expect(try await client.collect(requests).text == "cba")
    }
  }

  @Test func aResponseCanTriggerAnotherRequest() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client { [Conversation()] }
      let answers = try await client.update([Echo_EchoRequest("go")]).collected()
      #expect(answers.map(\.text) == ["go", "1", "2", "3"])
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess])
  func anEarlyAnswerCancelsTheCallOnTheServer(_ wire: Wire) async throws {
    let (log, live) = (Log(), LiveCount())
    let provider = TutorialProvider(interceptors: ServerFactory { [ServerRecorder("s", log)] })
    try await withChannel(to: [provider], over: wire) { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        interceptors: ClientFactory {
          [
            CountedClientInterceptor(live),
            ClientHook(send: { part, promise, context in
              guard case .message(let message, _) = part, message.text == "enough" else {
                return context.send(part, promise: promise)
              }
              context.receive(.end(GRPCStatus(code: .aborted, message: "early"), ["why": "so"]))
            }),
          ]
        }
      )
      let call = client.makeCollectCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      _ = try await log.lines(atLeast: 2)
      try await call.requestStream.send(Echo_EchoRequest("enough"))
      #expect(await call.status == GRPCStatus(code: .aborted, message: "early"))
      #expect(try await call.trailingMetadata["why"] == ["so"])
      #expect(
        try await log.lines(atLeast: 4)
          == ["s > metadata", "s > x", "s > error cancelled (1)", "s < cancelled (1)"]
      )
      try await live.isZero()
    }
  }

  @Test func aCallWhoseEndIsDroppedEndsWithTheDeadline() async throws {
    try await EchoPair.with { pair async throws in
      let dropsEnd = pair.client(timeout: .milliseconds(50)) {
        [
          ClientHook(send: { part, promise, context in
            if case .end = part { return }
            context.send(part, promise: promise)
          })
        ]
      }
      #expect(await status { _ = try await dropsEnd.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded)
      let dropsAnswer = pair.client(timeout: .milliseconds(50)) {
        [
          ClientHook(receive: { part, context in if case .end = part { return } else { context.receive(part) }
          })
        ]
      }
      #expect(
        await status { _ = try await dropsAnswer.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded
      )
      #expect(
        await status { _ = try await dropsAnswer.expand(Echo_EchoRequest("x")).collected() }?.code
          == .deadlineExceeded
      )
    }
  }
}

/// Holds a call back until a task has found a token.
final class TokenFetcher: EchoClientInterceptor {
  private var held: [(GRPCClientRequestPart<Echo_EchoRequest>, EventLoopPromise<Void>?)] = []
  private var isReady = false

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    if isReady { return context.send(part, promise: promise) }
    held.append((part, promise))
    guard held.count == 1 else { return }
    nonisolated(unsafe) let interceptor = self
    Task {
      try? await Task.sleep(for: .milliseconds(10))
      context.eventLoop.execute { interceptor.release(context) }
    }
  }

  private func release(_ context: EchoClientContext) {
    isReady = true
    for (part, promise) in held {
      if case .metadata(var headers) = part {
        headers.add(name: "authorization", value: "token")
        context.send(.metadata(headers), promise: promise)
      } else {
        context.send(part, promise: promise)
      }
    }
    held = []
  }
}

/// Sends a stream of requests in reverse order.
private final class Reverser: EchoClientInterceptor {
  private var held: [GRPCClientRequestPart<Echo_EchoRequest>] = []

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    switch part {
    case .metadata: context.send(part, promise: promise)
    case .message: held.append(part)
    case .end:
      for part in held.reversed() { context.send(part, promise: nil) }
      context.send(.end, promise: promise)
    }
  }
}

/// Starts the handler when all of its requests have arrived.
private final class Collector: EchoServerInterceptor {
  private var held: [GRPCServerRequestPart<Echo_EchoRequest>] = []

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    held.append(part)
    // Without a handler, nothing else requests messages.
    if case .metadata = part { context.receiveNextMessages(.max) }
    guard case .end = part else { return }
    for part in held { context.receive(part) }
    held = []
  }
}

/// Answers the first three responses with further requests.
private final class Conversation: EchoClientInterceptor {
  private var count = 0
  private var end: EventLoopPromise<Void>?

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    if case .end = part { end = promise } else { context.send(part, promise: promise) }
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    if case .message = part {
      count += 1
      if count <= 3 {
        context.send(.message(Echo_EchoRequest("\(count)"), MessageMetadata()), promise: nil)
      } else {
        context.send(.end, promise: end)
      }
    }
    context.receive(part)
  }
}

/// Rejects calls that are not marked as sent again.
final class Bouncer: EchoServerInterceptor {
  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    if case .metadata(let headers) = part, !headers.contains(name: "again") {
      return context.send(.end(GRPCStatus(code: .unauthenticated), HPACKHeaders()), promise: nil)
    }
    context.receive(part)
  }
}

/// Sends a rejected call again.
final class Replayer: EchoClientInterceptor {
  private var message: Echo_EchoRequest?

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    if case .message(let message, _) = part { self.message = message }
    context.send(part, promise: promise)
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    guard case .end(let status, _) = part, status.code == .unauthenticated, let message else {
      return context.receive(part)
    }
    self.message = nil
    context.send(.metadata(["again": "yes"]), promise: nil)
    context.send(.message(message, MessageMetadata()), promise: nil)
    context.send(.end, promise: nil)
  }
}

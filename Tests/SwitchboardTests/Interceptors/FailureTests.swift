import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardInterceptors
import Testing

/// Failures pass through the interceptors, and cancelled calls leave nothing behind.
@Suite(.timeLimit(.minutes(5))) struct FailureTests {
  @Test func aHandlersErrorPassesTheServersInterceptors() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerRecorder("s", log)] }
    try await EchoPair.with(server: make, failing: true) {
      pair async throws in
      let call = pair.client().makeGetCall(Echo_EchoRequest("x"))
      #expect(await call.status == GRPCStatus(code: .notFound, message: "no x"))
      #expect(try await call.trailingMetadata["why"] == ["asked to"])
    }
    #expect(log.lines == ["s > metadata", "s > x", "s > end", "s < not found (5)"])
  }

  @Test func anInvalidRequestPassesTheServersInterceptors() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerRecorder("s", log)] }
    try await EchoPair.with(server: make) { pair async throws in
      let method = Echo_EchoMetadata.Methods.get.descriptor
      let failure = await status {
        _ = try await pair.channel.call(method).unary([0xff])
      }
      #expect(failure?.code == .internalError)
    }
    #expect(log.lines == ["s > metadata", "s > error internal error (13)", "s < internal error (13)"])
  }

  @Test(arguments: [false, true])
  func anInvalidRequestFailsTheCallEvenIfTheHandlerIgnoresIt(_ isIntercepted: Bool) async throws {
    let hooked: @Sendable () -> [EchoServerInterceptor] = { [ServerHook()] }
    let make = isIntercepted ? hooked : nil
    typealias Methods = Echo_EchoMetadata.Methods
    let update = Methods.update.bidirectionalStreamingHandler(interceptors: make) { requests, _, _ in
      do { for try await _ in requests {} } catch {}
    }
    let collect = Methods.collect.clientStreamingHandler(interceptors: make) { requests, _ in
      do { for try await _ in requests {} } catch {}
      return Echo_EchoResponse()
    }
    let handlers = ServiceHandlers(Echo_EchoMetadata.service, [update, collect])
    try await withChannel(to: [handlers]) { channel async throws in
      for method in [
        Echo_EchoMetadata.Methods.update.descriptor, Echo_EchoMetadata.Methods.collect.descriptor,
      ] {
        let call = channel.call(method).makeBidirectionalStreamingCall(ofAnyType: true)
        try await call.requestStream.send([0xff])
        call.requestStream.finish()
        #expect(await call.status.code == .internalError)
      }
    }
  }

  /// The call fails while its first parts are still on their way to the handler, which then waits for its cancellation.
  @Test func metadataThatCannotBeSentPassesTheServersInterceptors() async throws {
    let log = Log()
    let get = Echo_EchoMetadata.Methods.get.unaryHandler {
      [ServerRecorder("s", log)]
    } _: { _, context in
      context.setInitialMetadata(["a name": "x"])
      context.sendInitialMetadata()
      try await Task.sleep(for: .seconds(300))
      return Echo_EchoResponse()
    }
    try await withChannel(to: [ServiceHandlers(Echo_EchoMetadata.service, [get])]) {
      channel async throws in
      let client = Echo_EchoClient(channel: channel)
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .internalError)
      let lines = try await log.lines(atLeast: 6)
      #expect(
        lines.prefix(6) == [
          "s > metadata", "s > x", "s > end", "s < metadata", "s > error internal error (13)",
          "s < internal error (13)",
        ]
      )
    }
  }

  @Test func aDisconnectedClientPassesTheServersInterceptors() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerRecorder("s", log)] }
    try await EchoPair.with(server: make, failing: true) {
      pair async throws in
      let call = pair.client().makeCollectCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      _ = try await log.lines(atLeast: 2)
      call.cancel()
      let lines = try await log.lines(atLeast: 4)
      #expect(lines == ["s > metadata", "s > x", "s > error cancelled (1)", "s < cancelled (1)"])
    }
  }

  @Test func interceptorsSeeTheCancellationOfTheTask() async throws {
    let log = Log()
    try await EchoPair.with(failing: true) { pair async throws in
      let client = pair.client { [ClientRecorder("1", log), ClientRecorder("2", log)] }
      let task = Task {
        try await client.collect(AsyncStream<Echo_EchoRequest> { $0.yield(Echo_EchoRequest("x")) })
      }
      _ = try await log.lines(atLeast: 4)
      task.cancel()
      #expect(await status { _ = try await task.value }?.code == .cancelled)
      #expect(
        log.lines.suffix(4) == [
          "1 > cancel", "2 > cancel", "2 < error cancelled (1)", "1 < error cancelled (1)",
        ]
      )
    }
  }

  private struct Never: AuthTokenProvider {
    let asked: OneShot<Bool>

    func token() async throws -> String? {
      asked.settle(.success(true))
      try await Task.sleep(for: .seconds(600))
      return nil
    }
  }

  /// The call waits for its token, before it is made at the transport.
  @Test func interceptorsSeeTheCancellationOfACallThatIsPrepared() async throws {
    let (log, asked) = (Log(), OneShot<Bool>())
    let metrics = CallMetricsTable()
    try await EchoPair.with { pair async throws in
      let client = pair.client { [ClientRecorder("1", log), ClientRecorder("2", log)] }
      let options = CallOptions.with {
        $0.authTokenProvider = Never(asked: asked)
        $0.interceptorFactories = [CallMetrics(metrics)]
      }
      let call = client.makeGetCall(Echo_EchoRequest("x"), callOptions: options)
      _ = try await asked.value()
      call.cancel()
      #expect(await call.status.code == .cancelled)
    }
    #expect(
      log.lines.suffix(4) == [
        "1 > cancel", "2 > cancel", "2 < error cancelled (1)", "1 < error cancelled (1)",
      ]
    )
    #expect(metrics.sums.map(\.key.code) == [.cancelled])
  }

  /// Its responses are being read when it is cancelled.
  @Test func interceptorsSeeTheCancellationOfAStream() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client { [ClientRecorder("1", log)] }
      let call = client.makeUpdateCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next() != nil)
      call.cancel()
      #expect(await call.status.code == .cancelled)
    }
    #expect(log.lines.suffix(2) == ["1 > cancel", "1 < error cancelled (1)"])
  }

  @Test func aLocalFailureReachesErrorCaught() async throws {
    let log = Log()
    try await withChannel(to: "127.0.0.1:1") { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        interceptors: ClientFactory { [ClientRecorder("c", log)] }
      )
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unavailable)
      #expect(log.lines.last == "c < error unavailable (14)")
    }
  }

  enum Disorder: CaseIterable {
    case metadataTwice, messageFirst, messageTwice, noMessage, messageAfterEnd
  }

  /// A client's chain that sends parts out of order ends its own call, and no other call.
  @Test(arguments: Disorder.allCases)
  func clientPartsOutOfOrderFailTheCall(_ disorder: Disorder) async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client {
        [
          ClientHook(send: { part, promise, context in
            let early = GRPCClientRequestPart.message(Echo_EchoRequest("early"), MessageMetadata())
            switch (part, disorder) {
            case (.metadata, .messageFirst): context.send(early, promise: nil)
            case (.message, .noMessage): return
            default: break
            }
            context.send(part, promise: promise)
            switch (part, disorder) {
            case (.metadata, .metadataTwice), (.message, .messageTwice): context.send(part, promise: nil)
            case (.end, .messageAfterEnd): context.send(early, promise: nil)
            default: break
            }
          })
        ]
      }
      let failure = await status { _ = try await client.get(Echo_EchoRequest("x")) }
      #expect(failure?.code == .internalError)
      #expect(failure?.message?.hasPrefix("interceptors (") == true)
      #expect(try await pair.client().get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
  }

  @Test(arguments: [Disorder.messageFirst, .messageTwice, .noMessage])
  func serverPartsOutOfOrderFailTheCall(_ disorder: Disorder) async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(send: { part, promise, context in
          let early = GRPCServerResponsePart.message(Echo_EchoResponse(), MessageMetadata())
          switch (part, disorder) {
          case (.metadata, .messageFirst): context.send(early, promise: nil)
          case (.message, .messageTwice): context.send(part, promise: nil)
          case (.message, .noMessage): return
          default: break
          }
          context.send(part, promise: promise)
        })
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let failure = await status { _ = try await pair.client().get(Echo_EchoRequest("x")) }
      #expect(failure?.code == .internalError)
    }
  }

  /// The call ends, regardless of what a chain does with a failure or a cancellation.
  @Test func aWithheldFailureEndsWithTheDeadline() async throws {
    let live = LiveCount()
    try await withChannel(to: "127.0.0.1:1") { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        defaultCallOptions: CallOptions(timeout: .milliseconds(50)),
        interceptors: ClientFactory { [CountedClientInterceptor(live), SwallowsFailures()] }
      )
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded)
      try await live.isZero()
    }
  }

  @Test func aWithheldCancellationReachesTheServer() async throws {
    let (log, live) = (Log(), LiveCount())
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerRecorder("s", log)] }
    try await EchoPair.with(server: make, failing: true) { pair async throws in
      let call = pair.client { [CountedClientInterceptor(live), SwallowsFailures()] }.makeCollectCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      _ = try await log.lines(atLeast: 2)
      call.cancel()
      #expect(await call.status.code == .cancelled)
      #expect(try await log.lines(atLeast: 4).suffix(2) == ["s > error cancelled (1)", "s < cancelled (1)"])
      try await live.isZero()
    }
  }

  @Test func interceptorsAndTheHandlerShareUserInfo() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(
          send: { part, promise, context in
            if case .end = part { log.note(context.userInfo[Visitor.self] ?? "nobody") }
            context.send(part, promise: promise)
          },
          receive: { part, context in
            if case .metadata = part { context.userInfo[Visitor.self] = "ada" }
            context.receive(part)
          }
        )
      ]
    }
    try await EchoPair.with(server: make, failing: true) {
      pair async throws in
      #expect(try await pair.client().expand(Echo_EchoRequest("")).collected().map(\.text) == ["ada"])
    }
    #expect(log.lines == ["ada and grace"])
  }

  @Test func chainsAreReleasedWhenTheirCallEnds() async throws {
    let live = LiveCount()
    let make: @Sendable () -> [EchoServerInterceptor] = { [CountedServerInterceptor(live)] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client { [CountedClientInterceptor(live)] }
      for _ in 0..<10 { _ = try await client.get(Echo_EchoRequest("x")) }
      _ = try await client.update([Echo_EchoRequest("x")]).collected()
      _ = client.expand(Echo_EchoRequest("x y z"))
      let stuck = pair.client(timeout: .milliseconds(20)) {
        [CountedClientInterceptor(live), ClientHook(send: { _, _, _ in })]
      }
      _ = await status { _ = try await stuck.get(Echo_EchoRequest("x")) }
      try await live.isZero()
    }
  }
}

private final class SwallowsFailures: EchoClientInterceptor {
  override func errorCaught(_ error: any Error, context: EchoClientContext) {}

  override func cancel(promise: EventLoopPromise<Void>?, context: EchoClientContext) {}
}

enum Visitor: UserInfoKey {
  typealias Value = String
}

/// Fails unary calls, and shares user info with interceptors.
final class FailingProvider: EchoingProvider {
  let interceptors: (any Echo_EchoServerInterceptorFactoryProtocol)?

  init(interceptors: (any Echo_EchoServerInterceptorFactoryProtocol)?) {
    self.interceptors = interceptors
  }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    context.setTrailers(["why": "asked to"])
    throw GRPCStatus(code: .notFound, message: "no \(request.text)")
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    let visitor = context.userInfo[Visitor.self] ?? "nobody"
    context.userInfo[Visitor.self] = "\(visitor) and grace"
    try await responseStream.send(.with { $0.text = visitor })
  }

  /// Ends the call at once.
  func update(
    requestStream: RequestStream<Echo_EchoRequest>,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {}
}

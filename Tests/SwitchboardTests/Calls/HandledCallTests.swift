import Dispatch
import EchoService
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardNetwork
import Testing

/// Calls whose responses go to a handler, as L38 specifies.
@Suite(.timeLimit(.minutes(5))) struct HandledCallTests {
  private typealias Handler = RecordingHandler<Echo_EchoResponse>

  @Test func aUnaryCallDeliversItsResponseToTheHandler() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeGetCall(Echo_EchoRequest("x"), responseHandler: handler)
      try call.start()
      let events = await handler.all()
      #expect(events.compactMap(\.word) == ["metadata", "message", "closed"])
      #expect(events.compactMap(\.message).map(\.text) == ["Swift echo get: x"])
      #expect(events.last?.end?.error == nil)
      #expect(events.last?.end?.trailers.first(name: "grpc-status") == "0")
      #expect(handler.misplacedCount == 0)
    }
  }

  private final class Warnings: LogHandler {
    private let state = Locked<[[String: String]]>([])
    var all: [[String: String]] { state.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if message.contains("was never started: call start()") { state.withLock { $0.append(metadata) } }
    }
  }

  @Test func aCallThatIsNeverStartedSaysSo() async throws {
    let warnings = Warnings()
    var options = ChannelOptions()
    options.logger = Logger(warnings)
    try await withChannel(try Channel(inProcess: [], channelOptions: options)) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      let (unary, streaming) = (Handler(), Handler())
      do { _ = client.callbacks.makeGetCall(Echo_EchoRequest("x"), responseHandler: unary) }
      do { _ = client.callbacks.makeUpdateCall(responseHandler: streaming) }
      for handler in [unary, streaming] {
        let events = await handler.all()
        #expect(events.compactMap(\.word) == ["closed"])
        #expect(events.last?.end?.error?.code == .failedPrecondition)
        #expect(
          events.last?.end?.error?.message?.hasPrefix("the call was released before it was started") == true
        )
        #expect(handler.misplacedCount == 0)
      }
      #expect(warnings.all.map { $0["method"] } == ["/echo.Echo/Get", "/echo.Echo/Update"])
    }
  }

  @Test func aUnaryCallCanReceiveAStreamOfResponses() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let request = Echo_EchoRequest((0..<500).map(String.init).joined(separator: " "))
      try pair.client().callbacks.makeExpandCall(request, responseHandler: handler).start()
      let events = await handler.all()
      #expect(events.compactMap(\.message).map(\.text) == (0..<500).map(String.init))
      #expect(handler.misplacedCount == 0)
    }
  }

  @Test func aStreamingCallSendsWrittenMessages() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeUpdateCall(responseHandler: handler)
      try call.start()
      let words = (0..<300).map(String.init)
      for word in words { try call.write(Echo_EchoRequest(word)) }
      try call.finish()
      let events = await handler.all()
      #expect(events.compactMap(\.message).map(\.text) == words)
      let written = events.count { if case .wrote = $0 { true } else { false } }
      #expect(written == words.count)
      #expect(events.last?.end != nil && events.last?.end?.error == nil)
      #expect(handler.misplacedCount == 0)
    }
  }

  @Test func aStreamingCallCanReceiveOneResponse() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeCollectCall(responseHandler: handler)
      try call.start()
      for word in ["a", "b", "c"] { try call.write(Echo_EchoRequest(word)) }
      try call.finish()
      #expect(await handler.all().compactMap(\.message).map(\.text) == ["abc"])
    }
  }

  @Test func handlersOnAConcurrentQueueAreCalledInOrder() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler(queue: DispatchQueue(label: "concurrent", attributes: .concurrent))
      let request = Echo_EchoRequest((0..<500).map(String.init).joined(separator: " "))
      try pair.client().callbacks.makeExpandCall(request, responseHandler: handler).start()
      #expect(await handler.all().compactMap(\.message).map(\.text) == (0..<500).map(String.init))
      #expect(handler.misplacedCount == 0)
    }
  }

  @Test func theHandlerReceivesTheStatusOfAFailedCall() async throws {
    try await EchoPair.with(failing: true) { pair async throws in
      let handler = Handler()
      try pair.client().callbacks.makeGetCall(Echo_EchoRequest("x"), responseHandler: handler).start()
      let end = try #require(await handler.all().last?.end)
      #expect(end.error == GRPCStatus(code: .notFound, message: "no x"))
      #expect(end.trailers.first(name: "why") == "asked to")
    }
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let options = CallOptions(responseSizeLimit: 3)
      let call = pair.client().callbacks.makeUpdateCall(responseHandler: handler, callOptions: options)
      try call.start()
      try call.write(Echo_EchoRequest("too long"))
      let events = await handler.all()
      #expect(events.compactMap(\.message).isEmpty)
      #expect(events.last?.end?.error?.code == .resourceExhausted)
    }
  }

  @Test func interceptorsSeeHandledCalls() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let client = pair.client { [ClientRecorder("i", log)] }
      try client.callbacks.makeGetCall(Echo_EchoRequest("x"), responseHandler: handler).start()
      #expect(await handler.all().compactMap(\.message).map(\.text) == ["Swift echo get: x"])
      let streaming = Handler()
      let call = client.callbacks.makeUpdateCall(responseHandler: streaming)
      try call.start()
      try call.write(Echo_EchoRequest("y"))
      try call.finish()
      #expect(await streaming.all().compactMap(\.message).map(\.text) == ["y"])
    }
    #expect(log.lines.contains("i > x") && log.lines.contains("i < Swift echo get: x"))
    #expect(log.lines.contains("i > y") && log.lines.contains("i < y"))
  }

  // MARK: Cancelling

  @Test func cancellingEndsACall() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeUpdateCall(responseHandler: handler)
      try call.start()
      try call.write(Echo_EchoRequest("x"))
      while let event = await handler.next(), event.message == nil {}
      call.cancel()
      call.cancel()
      let events = await handler.all()
      #expect(events.last?.end?.error?.code == .cancelled)
      #expect(refusal { try call.write(Echo_EchoRequest("y")) } == .failedPrecondition)
      #expect(refusal { try call.finish() } == .failedPrecondition)
    }
  }

  @Test func aCallCancelledBeforeItsStartNeverStarts() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client { [ClientRecorder("i", log)] }
        .callbacks.makeGetCall(Echo_EchoRequest("x"), responseHandler: handler)
      call.cancel()
      #expect(await handler.all().last?.end?.error?.code == .cancelled)
      #expect(refusal { try call.start() } == .failedPrecondition)
    }
    #expect(log.lines == [])
  }

  @Test func aStreamingCallReleasedWithoutFinishFails() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      do {
        let call = pair.client().callbacks.makeCollectCall(responseHandler: handler)
        try call.start()
        try call.write(Echo_EchoRequest("only"))
      }
      let events = await handler.all()
      #expect(events.compactMap(\.message).isEmpty)
      let failure = try #require(events.last?.end?.error)
      #expect(failure.code == .cancelled)
      #expect(failure.message?.contains("released without finish()") == true)
    }
  }

  @Test func aStreamingCallReleasedAfterFinishGoesOn() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      do {
        let call = pair.client().callbacks.makeCollectCall(responseHandler: handler)
        try call.start()
        try call.write(Echo_EchoRequest("only"))
        try call.finish()
      }
      let events = await handler.all()
      #expect(events.compactMap(\.message).map(\.text) == ["only"])
      #expect(events.last?.end?.error == nil)
    }
  }

  // MARK: Misuse

  @Test func misuseThrowsFailedPrecondition() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeUpdateCall(responseHandler: handler)
      #expect(refusal { try call.write(Echo_EchoRequest("x")) } == .failedPrecondition)
      #expect(refusal { try call.finish() } == .failedPrecondition)
      #expect(refusal { try call.receiveNextMessages(1) } == .failedPrecondition)
      try call.start()
      #expect(refusal { try call.start() } == .failedPrecondition)
      #expect(refusal { try call.receiveNextMessages(-1) } == .invalidArgument)
      #expect(refusal { try call.receiveNextMessages(1) } == nil)
      try call.write(Echo_EchoRequest("x"))
      try call.finish()
      #expect(refusal { try call.finish() } == .failedPrecondition)
      #expect(refusal { try call.write(Echo_EchoRequest("y")) } == .failedPrecondition)
      #expect(refusal { try call.start() } == .failedPrecondition)
      // The misuse has not disturbed the call.
      let events = await handler.all()
      #expect(events.compactMap(\.message).map(\.text) == ["x"])
      #expect(events.last?.end?.error == nil)
      let unary = pair.client().callbacks.makeGetCall(Echo_EchoRequest("x"), responseHandler: Handler())
      #expect(refusal { try unary.receiveNextMessages(1) } == .failedPrecondition)
      try unary.start()
      #expect(refusal { try unary.start() } == .failedPrecondition)
    }
  }

  @Test func aCallOfTheWrongFormIsRejected() async throws {
    try await EchoPair.with { pair async throws in
      let unary = MethodCall(Echo_EchoMetadata.Methods.update, on: pair.channel)
        .makeUnaryCall(Echo_EchoRequest("x"), responseHandler: Handler())
      #expect(refusal { try unary.start() } == .failedPrecondition)
      let streaming = MethodCall(Echo_EchoMetadata.Methods.get, on: pair.channel)
        .makeStreamingCall(responseHandler: Handler())
      #expect(refusal { try streaming.start() } == .failedPrecondition)
    }
  }

  @Test func writesAfterTheServerEndsTheCallAreDropped() async throws {
    try await EchoPair.with(failing: true) { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeUpdateCall(responseHandler: handler)
      try call.start()
      _ = await handler.all()
      #expect(refusal { try call.write(Echo_EchoRequest("late")) } == nil)
      #expect(refusal { try call.finish() } == nil)
    }
  }

  // MARK: Flow control

  @Test func aHandlerReceivesAsManyMessagesAsItRequests() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeExpandCall(
        Echo_EchoRequest("a b c d"),
        responseHandler: handler,
        callOptions: .with { $0.flowControlEnabled = true }
      )
      try call.start()
      guard case .metadata = await handler.next() else {
        Issue.record("the metadata comes first, and without being asked for")
        return
      }
      try call.receiveNextMessages(2)
      #expect(await handler.next()?.message?.text == "a")
      #expect(await handler.next()?.message?.text == "b")
      try call.receiveNextMessages(1)
      #expect(await handler.next()?.message?.text == "c")
      try call.receiveNextMessages(.max)
      #expect(await handler.next()?.message?.text == "d")
      #expect(await handler.next()?.end?.error == nil)
    }
  }

  @Test func aFailureIsDeliveredWithoutDemand() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeUpdateCall(
        responseHandler: handler,
        callOptions: .with { $0.flowControlEnabled = true }
      )
      try call.start()
      try call.write(Echo_EchoRequest("never asked for"))
      _ = await handler.next()
      call.cancel()
      #expect(await handler.all().last?.end?.error?.code == .cancelled)
    }
  }

  /// A handler of a call of two responses that the server has ended, of which it has asked for one.
  private func unreadCall(
    _ pair: EchoPair,
    _ timeout: Duration? = nil
  ) async throws -> (Handler, UnaryCall<Echo_EchoRequest, Echo_EchoResponse>) {
    let handler = Handler()
    let call = pair.client().callbacks.makeExpandCall(
      Echo_EchoRequest("a b"),
      responseHandler: handler,
      callOptions: .with {
        $0.flowControlEnabled = true
        $0.timeout = timeout
      }
    )
    try call.start()
    try call.receiveNextMessages(1)
    while let event = await handler.next(), event.message == nil {}
    return (handler, call)
  }

  /// Has deadlines pass during `body`.
  private func passingDeadlines(of pair: EchoPair, _ body: () async throws -> Void) async throws {
    try await (try #require(pair.channel.eventLoop as? Loop)).advancing(by: .seconds(601), during: body)
  }

  private func expectEnd(_ handler: Handler, _ code: GRPCStatus.Code, _ part: String) async throws {
    let events = await handler.all()
    #expect(events.compactMap(\.message).isEmpty)
    let error = try #require(events.last?.end?.error)
    #expect(error.code == code)
    #expect(error.message?.contains(part) == true, "\(error)")
  }

  @Test func aHandlerThatAsksForNothingLearnsOfItsDeadline() async throws {
    try await EchoPair.with { pair async throws in
      let (handler, call) = try await unreadCall(pair, .seconds(600))
      try await passingDeadlines(of: pair) {
        try await expectEnd(handler, .deadlineExceeded, "deadline of 600 s")
      }
      withExtendedLifetime(call) {}
    }
  }

  @Test func aUnaryCallWhoseResponseIsNotAskedForLearnsOfItsDeadline() async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = pair.client().callbacks.makeGetCall(
        Echo_EchoRequest("x"),
        responseHandler: handler,
        callOptions: .with {
          $0.flowControlEnabled = true
          $0.timeout = .seconds(600)
        }
      )
      try call.start()
      guard case .metadata = await handler.next() else { return }
      try await passingDeadlines(of: pair) {
        try await expectEnd(handler, .deadlineExceeded, "deadline of 600 s")
      }
      withExtendedLifetime(call) {}
    }
  }

  @Test func aHandlerThatAsksForNothingLearnsOfCancel() async throws {
    try await EchoPair.with { pair async throws in
      let (handler, call) = try await unreadCall(pair)
      call.cancel()
      try await expectEnd(handler, .cancelled, "the caller cancelled")
    }
  }

  @Test func aHandlerThatAsksForNothingLearnsOfTheEndOfItsChannel() async throws {
    try await EchoPair.with { pair async throws in
      let (handler, call) = try await unreadCall(pair)
      await pair.channel.shutDown(grace: .zero)
      try await expectEnd(handler, .unavailable, "the channel was shut down while responses")
      withExtendedLifetime(call) {}
    }
  }

  @Test func aShutdownLetsAHandlerAskForTheRest() async throws {
    try await EchoPair.with { pair async throws in
      let (handler, call) = try await unreadCall(pair)
      async let shutdown: Void = pair.channel.shutDown(grace: .seconds(60))
      try call.receiveNextMessages(1)
      let events = await handler.all()
      #expect(events.compactMap(\.message).map(\.text) == ["b"])
      #expect(events.last?.end?.error == nil)
      await shutdown
    }
  }

  @Test func aHandlerWhoseCallIsReleasedCanAskForNoMore() async throws {
    try await EchoPair.with { pair async throws in
      let handler = try await unreadCall(pair).0
      try await expectEnd(handler, .failedPrecondition, "keep the call, and ask for them")
    }
  }

  @Test func aSlowHandlerStopsTheServer() async throws {
    let sent = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(send: { part, promise, context in
          if case .message = part { sent.note("") }
          context.send(part, promise: promise)
        })
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let gate = DispatchSemaphore(value: 0)
      let handler = Handler(onMessage: { _ in gate.wait() })
      let word = String(repeating: "w", count: 64 * 1024)
      let words = 55
      let request = Echo_EchoRequest(Array(repeating: word, count: words).joined(separator: " "))
      let call = pair.client().callbacks.makeExpandCall(
        request,
        responseHandler: handler,
        callOptions: CallOptions(responseSizeLimit: 1 << 20)
      )
      try call.start()
      _ = await handler.next()
      _ = try await sent.lines(atLeast: 10)
      // The server has 3.5 MB to send; the window and the buffers of a stream hold half of that.
      #expect(sent.lines.count < words)
      for _ in 0..<words { gate.signal() }
      #expect(await handler.all().compactMap(\.message).count == words)
    }
  }
}

import CallTestSupport
import EchoService
import Switchboard
import SwitchboardInterceptors
import Testing

/// Interceptors that see whole calls on the server.
@Suite(.timeLimit(.minutes(5))) struct WholeCallServerTests {
  /// It has the state of its call, so another call must not use it.
  @Test func anInstanceServesOneCall() async throws {
    nonisolated(unsafe) let interceptors: [EchoServerInterceptor] = [ServerCallHook()]
    let make: @Sendable () -> [EchoServerInterceptor] = { interceptors }
    try await EchoPair.with(server: make) { pair async throws in
      try await pair.client().expectOneCall()
    }
  }

  @Test func aUnaryCallCanBeChangedInBothDirections() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerRecorder("1", log),
        ServerCallHook(unary: { request, context, next in
          var request = request
          request.message.text += " 1"
          var response = try await next(request)
          response.message.text += " 2"
          response.trailers.add(name: "path", value: context.path)
          return response
        }),
        ServerRecorder("3", log),
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let call = pair.client().makeGetCall(Echo_EchoRequest("x"))
      #expect(try await call.response.text == "Swift echo get: x 1 2")
      #expect(try await call.trailingMetadata["path"] == ["/echo.Echo/Get"])
    }
    #expect(
      log.lines == [
        "1 > metadata", "1 > x", "1 > end", "3 > metadata", "3 > x 1", "3 > end",
        "3 < metadata", "3 < Swift echo get: x 1", "3 < ok (0)",
        "1 < metadata", "1 < Swift echo get: x 1 2", "1 < ok (0)",
      ]
    )
  }

  /// An interceptor for calls of the other form would be passed by, were they let through.
  @Test func aFormThatIsNotOverriddenFailsItsCalls() async throws {
    final class UnaryOnly: ServerCallInterceptor<Echo_EchoRequest, Echo_EchoResponse> {
      override func intercept(
        _ request: EchoUnaryRequest,
        context: Context,
        next: Next
      ) async throws -> EchoUnaryResponse { try await next(request) }
    }
    final class StreamedOnly: ClientCallInterceptor<Echo_EchoRequest, Echo_EchoResponse> {
      override func intercept(
        _ request: EchoStreamedRequest,
        context: Context,
        next: StreamedNext
      ) async throws -> EchoStreamedResponse { try await next(request) }
    }
    let make: @Sendable () -> [EchoServerInterceptor] = { [UnaryOnly()] }
    try await EchoPair.with(server: make) { pair async throws in
      let request = Echo_EchoRequest("x")
      #expect(try await pair.client().get(request).text == "Swift echo get: x")
      let failure = await status { _ = try await pair.client().update([request]).collected() }
      let message = "UnaryOnly does not override intercept for calls that stream"
      #expect(failure == GRPCStatus(code: .internalError, message: message))
    }
    try await EchoPair.with { pair async throws in
      let client = pair.client { [StreamedOnly()] }
      let request = Echo_EchoRequest("x")
      #expect(try await client.update([request]).collected().count == 1)
      let failure = await status { _ = try await client.get(request) }
      let message = "StreamedOnly does not override intercept for unary calls"
      #expect(failure == GRPCStatus(code: .internalError, message: message))
    }
  }

  @Test func anInterceptorCanRejectOrAnswerForTheHandler() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerCallHook(
          unary: { request, _, _ in
            if request.message.text == "no" { throw GRPCStatus(code: .permissionDenied, message: "no") }
            return UnaryResponse(message: .with { $0.text = "instead" })
          },
          streamed: { _, _, _ in throw GRPCStatus(code: .permissionDenied, message: "no") }
        ),
        ServerRecorder("inner", log),
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client()
      #expect(try await client.get(Echo_EchoRequest("x")).text == "instead")
      #expect(await status { _ = try await client.get(Echo_EchoRequest("no")) }?.code == .permissionDenied)
      let requests = [Echo_EchoRequest("x")]
      #expect(await status { _ = try await client.collect(requests) }?.code == .permissionDenied)
      #expect(await status { _ = try await client.update(requests).collected() }?.code == .permissionDenied)
    }
    #expect(log.lines.isEmpty)
  }

  @Test func theHandlersFailureKeepsItsTrailers() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerCallHook(), ServerCallHook()] }
    try await EchoPair.with(server: make, failing: true) { pair async throws in
      let call = pair.client().makeGetCall(Echo_EchoRequest("x"))
      #expect(await call.status == GRPCStatus(code: .notFound, message: "no x"))
      #expect(try await call.trailingMetadata["why"] == ["asked to"])
    }
  }

  @Test func theHandlerCanRunAgain() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerCallHook(unary: { request, _, next in
          do {
            return try await next(request)
          } catch let status as GRPCStatus where status.code == .notFound {
            log.note("again")
            return try await next(request)
          }
        })
      ]
    }
    try await EchoPair.with(server: make, failing: true) { pair async throws in
      #expect(await status { _ = try await pair.client().get(Echo_EchoRequest("x")) }?.code == .notFound)
    }
    #expect(log.lines == ["again"])
  }

  /// Nothing is left of them for the handler, which is ended. How it ends is not what the client learns.
  @Test func requestsThatWereReadCannotBeSentOn() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerCallHook(streamed: { request, _, next in
          for try await _ in request.messages {}
          return try await next(request)
        })
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let (client, requests) = (pair.client(), [Echo_EchoRequest("x")])
      #expect(await status { _ = try await client.expand(requests[0]).collected() }?.code == .unknown)
      #expect(await status { _ = try await client.collect(requests) }?.code == .unknown)
      #expect(await status { _ = try await client.update(requests).collected() }?.code == .unknown)
    }
  }

  @Test func anInterceptorThatGivesACallUpDecidesHowItEnds() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerCallHook(streamed: { request, _, next in
          _ = try await next(request)
          throw GRPCStatus(code: .aborted)
        })
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let (client, requests) = (pair.client(), [Echo_EchoRequest("x")])
      #expect(await status { _ = try await client.expand(requests[0]).collected() }?.code == .aborted)
      #expect(await status { _ = try await client.collect(requests) }?.code == .aborted)
      #expect(await status { _ = try await client.update(requests).collected() }?.code == .aborted)
    }
  }

  @Test func handlersOfEveryKindCanRunAgain() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerCallHook(
          unary: { request, _, next in
            log.note(try await next(request).message.text)
            return try await next(request)
          },
          streamed: { request, _, next in
            let messages = try await request.messages.collected()
            let first = StreamedRequest(metadata: request.metadata, messages: MessageStream(of: messages))
            let answers = try await next(first).messages.collected()
            log.note(answers.map(\.text).joined(separator: ","))
            return try await next(
              StreamedRequest(metadata: request.metadata, messages: MessageStream(of: messages))
            )
          }
        )
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client()
      let requests = ["a", "b"].map { Echo_EchoRequest($0) }
      #expect(try await client.get(Echo_EchoRequest("a")).text == "Swift echo get: a")
      #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["a", "b"])
      #expect(try await client.collect(requests).text == "ab")
      #expect(try await client.update(requests).collected().map(\.text) == ["a", "b"])
    }
    #expect(log.lines == ["Swift echo get: a", "a,b", "ab", "a,b"])
  }

  @Test func streamsCanBeChanged() async throws {
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerCallHook(),
        ServerCallHook(streamed: { request, _, next in
          var request = request
          request.messages = MessageStream(
            request.messages.map { message in .with { $0.text = message.text + "!" } }
          )
          var response = try await next(request)
          response.messages = MessageStream(
            response.messages.map { message in .with { $0.text = "<" + message.text } }
          )
          return response
        }),
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client()
      let words = (0..<100).map { String($0) }
      let requests = words.map { Echo_EchoRequest($0) }
      #expect(try await client.update(requests).collected().map(\.text) == words.map { "<\($0)!" })
      #expect(try await client.collect(requests).text == "<" + words.map { $0 + "!" }.joined())
      #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["<a", "<b!"])
    }
  }

  @Test func theHandlerDoesNotRunAgainForAClientThatHasGone() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerCallHook(unary: { request, _, next in
          do {
            return try await next(request)
          } catch {
            log.note("first \(GRPCStatus(describing: error).code)")
          }
          do {
            return try await next(request)
          } catch {
            log.note("second \(GRPCStatus(describing: error).code)")
            throw error
          }
        }),
        EndlessRequests(log),
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let task = Task { try await pair.client().get(Echo_EchoRequest("x")) }
      _ = try await log.lines(atLeast: 1)
      task.cancel()
      _ = await task.result
      #expect(try await log.lines(atLeast: 3) == ["call", "first cancelled (1)", "second cancelled (1)"])
    }
  }

  @Test func aDisconnectedClientCancelsTheInterceptor() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerRecorder("outer", log),
        ServerCallHook(streamed: { request, _, next in
          do {
            return try await next(request)
          } catch {
            log.note("failed \(Task.isCancelled)")
            throw error
          }
        }),
      ]
    }
    try await EchoPair.with(server: make, failing: true) { pair async throws in
      let call = pair.client().makeCollectCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      _ = try await log.lines(atLeast: 2)
      call.cancel()
      let lines = try await log.lines(atLeast: 5)
      #expect(
        lines == [
          "outer > metadata", "outer > x", "outer > error cancelled (1)", "failed true",
          "outer < cancelled (1)",
        ]
      )
    }
  }
}

/// Withholds the end of the requests, without which a unary handler does not start.
private final class EndlessRequests: EchoServerInterceptor {
  private let log: Log

  init(_ log: Log) { self.log = log }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    if case .metadata = part { log.note("call") }
    if case .end = part { return }
    context.receive(part)
  }
}

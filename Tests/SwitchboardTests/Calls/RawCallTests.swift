import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// Calls of raw bytes.
@Suite(.timeLimit(.minutes(5))) struct RawCallTests {
  private typealias Handler = RecordingHandler<[UInt8]>

  private func bytes(_ text: String) throws -> [UInt8] { try Echo_EchoRequest(text).serializedBytes() }

  private func texts(_ events: [Handler.Event]) throws -> [String] {
    try events.compactMap(\.message).map { try Echo_EchoResponse(serializedBytes: $0).text }
  }

  @Test(arguments: [("Get", ["Swift echo get: a b"]), ("Expand", ["a", "b"]), ("Update", ["a b"])])
  func rawBytesCallMethodsOfAnyType(_ method: String, _ answers: [String]) async throws {
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = Call(
        RequestOptions(host: "", path: "/echo.Echo/\(method)"),
        responseHandler: handler,
        channel: pair.channel
      )
      try call.start()
      try call.write(try bytes("a b"))
      try call.finish()
      let events = await handler.all()
      #expect(try texts(events) == answers)
      #expect(events.last?.end?.error == nil)
    }
  }

  @Test func rawBytesCallMethodsInProcess() async throws {
    try await withChannel(try Channel(inProcess: [TutorialProvider()])) { channel async throws in
      for (method, answers) in [
        ("Get", ["Swift echo get: a b"]), ("Expand", ["a", "b"]), ("Collect", ["a b"]),
      ] {
        let (call, handler) = try start(method, on: channel)
        try call.write(try bytes("a b"))
        try call.finish()
        let events = await handler.all()
        #expect(try texts(events) == answers)
        #expect(events.last?.end?.error == nil)
      }
      let (call, handler) = try start("Get", on: channel)
      try call.finish()
      #expect(await handler.all().last?.end?.error?.code == .unimplemented)
    }
  }

  private func start(_ method: String, on channel: Channel) throws -> (call: Call, handler: Handler) {
    let handler = Handler()
    let request = RequestOptions(host: "", path: "/echo.Echo/\(method)")
    let call = Call(request, responseHandler: handler, channel: channel)
    try call.start()
    return (call, handler)
  }

  @Test func aRawCallCanNameItsHost() async throws {
    try await withServer([TutorialProvider()]) { _, address async throws in
      try await withPool(try ChannelPool()) { pool async throws in
        let handler = Handler()
        let request = RequestOptions(host: "\(address)", path: "/echo.Echo/Get", safety: .idempotentRequest)
        let options = CallOptions.with { $0.security = .plaintext }
        let call = Call(request, responseHandler: handler, callOptions: options, pool: pool)
        #expect(call.request == request)
        #expect(call.options.security == .plaintext)
        try call.start()
        try call.write(try bytes("x"))
        try call.finish()
        #expect(try texts(await handler.all()) == ["Swift echo get: x"])
      }
    }
  }

  @Test func interceptorsSeeTheSafetyOfARawCall() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let handler = Handler()
      let call = Call(
        RequestOptions(host: "", path: "/echo.Echo/Get", safety: .cacheableRequest),
        responseHandler: handler,
        callOptions: .with { $0.interceptorFactories = [SafetyFactory(log: log)] },
        channel: pair.channel
      )
      try call.start()
      try call.write(try bytes("x"))
      try call.finish()
      #expect(try texts(await handler.all()) == ["Swift echo get: x"])
    }
    #expect(log.lines == ["cacheableRequest"])
  }

  @Test(arguments: ["", "Get", "/Get", "echo.Echo/Get"])
  func anInvalidPathIsRejected(_ path: String) async throws {
    try await EchoPair.with { pair async throws in
      let call = Call(RequestOptions(host: "", path: path), responseHandler: Handler(), channel: pair.channel)
      #expect(refusal { try call.start() } == .invalidArgument)
    }
  }
}

private struct SafetyFactory: ClientInterceptorFactory {
  let log: Log

  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [SafetyRecorder(log)] }
}

private final class SafetyRecorder<Request: Sendable, Response: Sendable>: ClientInterceptor<
  Request, Response
>
{
  private let log: Log

  init(_ log: Log) {
    self.log = log
    super.init()
  }

  override func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    if case .metadata = part { log.note("\(context.requestOptions.safety)") }
    context.send(part, promise: promise)
  }
}

import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// The format of a call, at every level where it can be chosen, and what servers accept.
@Suite(.timeLimit(.minutes(5))) struct FormatChoiceTests {
  /// The tutorial's echo service with additional formats.
  final class Provider: Echo_EchoProvider {
    var interceptors: Interceptors? { nil }

    let formats: [any PayloadFormat]
    let tutorial = TutorialProvider()

    init(_ formats: [any PayloadFormat]) {
      self.formats = formats
    }

    /// All methods but `Collect`.
    func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] {
      method.method == "Collect" ? [] : formats
    }

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      try await tutorial.get(request: request, context: context)
    }

    func expand(
      request: Echo_EchoRequest,
      responseStream: ResponseStreamWriter<Echo_EchoResponse>,
      context: ServerCallContext
    ) async throws {
      try await tutorial.expand(request: request, responseStream: responseStream, context: context)
    }

    func collect(
      requestStream: RequestStream<Echo_EchoRequest>,
      context: ServerCallContext
    ) async throws -> Echo_EchoResponse {
      try await tutorial.collect(requestStream: requestStream, context: context)
    }

    func update(
      requestStream: RequestStream<Echo_EchoRequest>,
      responseStream: ResponseStreamWriter<Echo_EchoResponse>,
      context: ServerCallContext
    ) async throws {
      try await tutorial.update(
        requestStream: requestStream,
        responseStream: responseStream,
        context: context
      )
    }
  }

  static func options(_ choice: PayloadChoice) -> CallOptions {
    var options = CallOptions()
    options.payloadFormat = choice
    return options
  }

  func contentType(_ client: Echo_EchoClient, _ options: CallOptions? = nil) async throws -> [String] {
    let call = client.makeGetCall(Echo_EchoRequest("x"), callOptions: options)
    #expect(try await call.response.text == "Swift echo get: x")
    return Array(try await call.initialMetadata["content-type"])
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func theResponseUsesTheFormatOfTheCall(_ wire: Wire) async throws
  {
    try await withChannel(to: [Provider([JSONFormat()])], over: wire) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      #expect(try await contentType(client) == ["application/grpc"])
      #expect(try await contentType(client, Self.options(.json)) == ["application/grpc+json"])
      #expect(try await contentType(client, Self.options(.protobuf)) == ["application/grpc+proto"])
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func messagesUseTheChosenFormat(_ wire: Wire) async throws {
    try await withChannel(to: [Provider([JSONFormat()])], over: wire) { channel async throws in
      let json = Method(
        Echo_EchoMetadata.Methods.get.descriptor,
        requests: BytesMarshaller(.json),
        responses: BytesMarshaller(.json)
      )
      let answer = try await MethodClient(channel: channel).call(json).unary(Array(#"{"text":"x"}"#.utf8))
      #expect(String(decoding: answer, as: UTF8.self) == #"{"text":"Swift echo get: x"}"#)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func aClientsFormatAppliesToCallsOfEveryKind(_ wire: Wire)
    async throws
  {
    try await withChannel(to: [TutorialProvider()], over: wire, options: Self.serving([JSONFormat()])) {
      channel async throws in
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: Self.options(.json))
      #expect(try await contentType(client) == ["application/grpc+json"])
      let requests = ["a", "b"].map { Echo_EchoRequest($0) }
      #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["a", "b"])
      #expect(try await client.collect(requests).text == "ab")
      #expect(try await client.update(requests).collected().map(\.text) == ["a", "b"])
      let stream = AsyncStream { continuation in
        continuation.yield(Echo_EchoRequest("c"))
        continuation.finish()
      }
      #expect(try await client.collect(stream).text == "c")
      let expanding = client.makeExpandCall(Echo_EchoRequest("a"))
      #expect(try await expanding.responseStream.collected().map(\.text) == ["a"])
      #expect(try await expanding.initialMetadata["content-type"] == ["application/grpc+json"])
      let updating = client.makeUpdateCall()
      try await updating.requestStream.send(Echo_EchoRequest("u"))
      updating.requestStream.finish()
      #expect(try await updating.responseStream.collected().map(\.text) == ["u"])
      let collecting = client.makeCollectCall()
      try await collecting.requestStream.send(Echo_EchoRequest("u"))
      collecting.requestStream.finish()
      #expect(try await collecting.response.text == "u")
    }
  }

  static func serving(_ formats: [any PayloadFormat]) -> ServerOptions {
    var options = ServerOptions()
    options.payloadFormats = formats
    return options
  }

  @Test func aChoiceCanDifferByServiceAndMethod() async throws {
    let methods = Echo_EchoMetadata.Methods.self
    let choice = PayloadChoice(nil)
      .with(JSONFormat(), service: "echo.Echo")
      .with(ProtobufFormat(), method: methods.get.descriptor)
    try await withChannel(to: [Provider([JSONFormat()])]) { channel async throws in
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: Self.options(choice))
      #expect(try await contentType(client) == ["application/grpc+proto"])
      let expanding = client.makeExpandCall(Echo_EchoRequest("a"))
      #expect(try await expanding.initialMetadata["content-type"] == ["application/grpc+json"])
      let other = MethodDescriptor(service: "other.Service", method: "Get", type: .unary)
      #expect(choice.format(for: other) == nil)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func anUnsupportedFormatIsUnimplemented(_ wire: Wire)
    async throws
  {
    try await withChannel(to: [Provider([JSONFormat()])], over: wire) { channel async throws in
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: Self.options(.json))
      let refused = await status { _ = try await client.collect([Echo_EchoRequest("x")]) }
      #expect(refused?.code == .unimplemented)
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
    try await withChannel(to: [TutorialProvider()], over: wire) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      let refused = await status {
        _ = try await client.get(Echo_EchoRequest("x"), callOptions: Self.options(.json))
      }
      #expect(refused?.code == .unimplemented)
    }
  }

  @Test func aFormatWithoutAMarshallerForTheMessagesFailsTheCall() async throws {
    try await withChannel(to: [Stock.handlers]) { channel async throws in
      let client = MethodClient(channel: channel, defaultCallOptions: Self.options(.protobuf))
      let failure = await status { _ = try await client.call(Stock.find).unary(Stock.Query(name: "x")) }
      #expect(failure?.code == .internalError)
      #expect(failure?.message?.contains("has no marshaller for Query") == true)
    }
  }

  @Test(arguments: ["/echo.Echo", "echo.Echo/Get", "", "echo Echo"])
  func aChoiceForWhatIsNoServiceFailsTheCall(_ name: String) async throws {
    try await withChannel(to: [Provider([JSONFormat()])]) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      var options = CallOptions()
      options.payloadFormat = PayloadChoice(nil).with(JSONFormat(), service: name)
      let failure = await status { _ = try await client.get(Echo_EchoRequest("x"), callOptions: options) }
      #expect(failure?.code == .invalidArgument)
      #expect(
        failure?.message?.contains("\(name.debugDescription), which is not the name of a service") == true
      )
    }
  }

  // MARK: Interceptors

  @Test func interceptorsSeeTypedMessagesInEveryFormat() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerRecorder("s", log)] }
    let provider = TutorialProvider(interceptors: ServerFactory(make: make))
    try await withChannel(to: [provider], options: Self.serving([JSONFormat()])) {
      channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        defaultCallOptions: Self.options(.json),
        interceptors: ClientFactory { [ClientRecorder("c", log)] }
      )
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
      #expect(log.lines.contains("c > x"))
      #expect(log.lines.contains("s > x"))
      #expect(log.lines.contains("c < Swift echo get: x"))
      let requests = ["a", "b"].map { Echo_EchoRequest($0) }
      #expect(try await client.update(requests).collected().map(\.text) == ["a", "b"])
    }
  }

  @Test func anInterceptorCanChooseTheFormatUntilTheMetadataLeaves() async throws {
    try await withChannel(to: [Provider([JSONFormat()])]) { channel async throws in
      let client = Echo_EchoClient(channel: channel, interceptors: ClientFactory { [Chooser()] })
      #expect(try await contentType(client) == ["application/grpc+json"])
      #expect(try await client.expand(Echo_EchoRequest("a b")).collected().map(\.text) == ["a", "b"])
    }
  }

  final class Chooser: EchoClientInterceptor {
    override func send(
      _ part: GRPCClientRequestPart<Echo_EchoRequest>,
      promise: EventLoopPromise<Void>?,
      context: EchoClientContext
    ) {
      if case .metadata = part { context.options.payloadFormat = .json }
      context.send(part, promise: promise)
    }
  }
}

import CallTestSupport
import ServerTestSupport
import Switchboard
import Testing

/// A marshaller that throws, or writes another size than announced, ends its call with `INTERNAL`, and no other call.
@Suite(.serialized, .timeLimit(.minutes(5))) struct FailingMarshallerTests {
  enum Fault: String, CaseIterable, Sendable {
    case throwsOnEncoding, throwsAStatus, writesTooMuch, writesTooLittle, impossibleSize, throwsOnDecoding
  }

  enum Side: CaseIterable { case client, server }

  /// A text format that fails for the text "bad".
  struct Faulty: Marshaller {
    struct Refusal: Error {}
    let fault: Fault?

    func encode(_ message: String) throws -> MessageBuffer {
      guard message == "bad" else { return MessageBuffer(message.utf8) }
      switch fault {
      case .throwsOnEncoding: throw Refusal()
      case .throwsAStatus: throw GRPCStatus(code: .ok, message: "all is well")
      case .writesTooMuch: return try MessageBuffer(byteCount: 2) { $0.append(contentsOf: message.utf8) }
      case .writesTooLittle: return try MessageBuffer(byteCount: 4) { $0.append(contentsOf: message.utf8) }
      case .impossibleSize: return try MessageBuffer(byteCount: .max) { _ in }
      case .throwsOnDecoding, nil: return MessageBuffer(message.utf8)
      }
    }

    func decode(_ bytes: RawSpan) throws -> String {
      let text = bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      if text == "bad", fault == .throwsOnDecoding { throw Refusal() }
      return text
    }
  }

  typealias Text = Method<Faulty, Faulty>

  static func method(_ name: String, _ type: GRPCCallType, _ fault: Fault?) -> Text {
    let faulty = Faulty(fault: fault)
    return Text(
      MethodDescriptor(service: "test.Text", method: name, type: type),
      requests: faulty,
      responses: faulty
    )
  }

  /// Handlers that ignore failures.
  static func handlers(
    _ fault: Fault?,
    _ interceptors: (@Sendable () -> [ServerInterceptor<String, String>])? = nil
  ) -> ServiceHandlers {
    let unary = method("Unary", .unary, fault).unaryHandler(interceptors: interceptors) {
      request,
      _ in
      request
    }
    let server = method("Server", .serverStreaming, fault).serverStreamingHandler(interceptors: interceptors)
    {
      request,
      responses,
      _ in
      for text in ["one", request, "three"] { try? await responses.send(text) }
    }
    let client = method("Client", .clientStreaming, fault).clientStreamingHandler(interceptors: interceptors)
    {
      requests,
      _ in
      var all = ""
      for try await request in requests { all = request }
      return all
    }
    let both = method("Both", .bidirectionalStreaming, fault).bidirectionalStreamingHandler(
      interceptors: interceptors
    ) {
      requests,
      responses,
      _ in
      for try await request in requests { try? await responses.send(request) }
    }
    let handlers = [unary, server, client, both]
    return ServiceHandlers(ServiceDescriptor("test.Text", handlers.map(\.method)), handlers)
  }

  /// Makes one failing call of each kind, next to a call that ends only after them.
  @Test(arguments: Fault.allCases, Side.allCases)
  func eachKindOfCallEndsWithInternal(_ fault: Fault, _ side: Side) async throws {
    try await check(fault, side, intercepted: false)
  }

  @Test(arguments: Fault.allCases, Side.allCases)
  func eachKindOfCallEndsWithInternalBehindInterceptors(_ fault: Fault, _ side: Side) async throws {
    try await check(fault, side, intercepted: true)
  }

  private func check(_ fault: Fault, _ side: Side, intercepted: Bool) async throws {
    let onServer = side == .server ? fault : nil
    let onClient = side == .client ? fault : nil
    let make: @Sendable () -> [ServerInterceptor<String, String>] = { [ServerInterceptor()] }
    let handlers = Self.handlers(onServer, intercepted ? make : nil)
    for wire in [Wire.ipv4, .inProcess] {
      try await withChannel(to: [handlers], over: wire) { channel async throws in
        let client = MethodClient(channel: channel, defaultCallOptions: CallOptions(timeout: .seconds(300)))
        let neighbor = client.call(Self.method("Both", .bidirectionalStreaming, nil))
          .makeBidirectionalStreamingCall()
        var answers = neighbor.responseStream.makeAsyncIterator()
        try await neighbor.requestStream.send("before")
        #expect(try await answers.next() == "before")
        try await failures(client, onClient, intercepted)
        try await neighbor.requestStream.send("after")
        #expect(try await answers.next() == "after")
        neighbor.requestStream.finish()
        #expect(try await answers.next() == nil)
        #expect(await neighbor.status.isOk)
      }
    }
  }

  /// A server that ends a call has sent all its responses, but the last of them may be read later.
  @Test(arguments: [Wire.ipv4, .inProcess]) func aLastResponseThatCannotBeDecodedIsTheStatus(_ wire: Wire)
    async throws
  {
    try await withChannel(to: [Self.handlers(nil)], over: wire) { channel async throws in
      let both = Self.method("Both", .bidirectionalStreaming, .throwsOnDecoding)
      let call = MethodClient(channel: channel).call(both).makeBidirectionalStreamingCall()
      for text in ["one", "bad"] { try await call.requestStream.send(text) }
      call.requestStream.finish()
      // The call has ended.
      _ = try await call.trailingMetadata
      let failure = await status { _ = try await call.responseStream.collected() }
      #expect(failure?.code == .internalError)
      #expect(await call.status == failure)
    }
  }

  // MARK: What clients learn

  private final class Errors: LogHandler {
    private let entries = Locked<[String]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      entries.withLock { if level == .error { $0.append(metadata["error"] ?? "") } }
    }

    var all: [String] { entries.withLock { $0 } }
  }

  /// The messages of the statuses of one failing call of each kind.
  private func messages(
    _ fault: Fault,
    _ wire: Wire,
    _ options: ServerOptions,
    intercepted: Bool
  ) async throws -> [String?] {
    let make: @Sendable () -> [ServerInterceptor<String, String>] = { [ServerInterceptor()] }
    var found: [String?] = []
    try await withChannel(to: [Self.handlers(fault, intercepted ? make : nil)], over: wire, options: options)
    {
      channel async throws in
      let client = MethodClient(channel: channel)
      let server = client.call(Self.method("Server", .serverStreaming, nil)).serverStreaming("bad")
      let both = client.call(Self.method("Both", .bidirectionalStreaming, nil)).bidirectionalStreaming(["bad"]
      )
      let statuses = [
        await status { _ = try await client.call(Self.method("Unary", .unary, nil)).unary("bad") },
        await status { _ = try await server.collected() },
        await status {
          _ = try await client.call(Self.method("Client", .clientStreaming, nil)).clientStreaming(["bad"])
        },
        await status { _ = try await both.collected() },
      ]
      #expect(statuses.allSatisfy { $0?.code == .internalError })
      found = statuses.map { $0?.message }
    }
    return found
  }

  /// What an encoder says is about the server's data, so that the log has it.
  @Test(arguments: [Wire.ipv4, .inProcess], [false, true])
  func clientsDoNotLearnWhatEncodersSay(_ wire: Wire, intercepted: Bool) async throws {
    let errors = Errors()
    var options = ServerOptions()
    options.logger = Logger(errors)
    let fixed = "a message could not be encoded in the server, whose log says why"
    let found = try await messages(.throwsOnEncoding, wire, options, intercepted: intercepted)
    #expect(found == Array(repeating: fixed, count: 4))
    let said = "a message could not be encoded: Refusal()"
    #expect(errors.all == Array(repeating: said, count: 4))
    options.sendsErrorDescriptions = true
    let described = try await messages(.throwsOnEncoding, wire, options, intercepted: intercepted)
    #expect(described == Array(repeating: said, count: 4))
  }

  /// What a decoder says is about the client's own bytes, and a status is meant for the client.
  @Test(arguments: [Fault.throwsOnDecoding, .throwsAStatus], [false, true])
  func clientsLearnWhatConcernsThem(_ fault: Fault, intercepted: Bool) async throws {
    let errors = Errors()
    var options = ServerOptions()
    options.logger = Logger(errors)
    let found = try await messages(fault, .ipv4, options, intercepted: intercepted)
    let said =
      fault == .throwsOnDecoding
      ? "a message could not be decoded: Refusal()"
      : "a message could not be encoded: a status of OK was thrown as an error: what succeeds has to return"
    #expect(found == Array(repeating: said, count: 4))
    #expect(errors.all.isEmpty)
  }

  private func failures(_ client: MethodClient, _ fault: Fault?, _ intercepted: Bool) async throws {
    func chain() -> sending [ClientInterceptor<String, String>] {
      intercepted ? [ClientInterceptor()] : []
    }
    let unary = Self.method("Unary", .unary, fault)
    #expect(
      await status { _ = try await client.call(unary, interceptors: chain()).unary("bad") }?.code
        == .internalError
    )
    let object = client.call(unary, interceptors: chain()).makeUnaryCall("bad")
    #expect(await status { _ = try await object.response }?.code == .internalError)
    #expect(await object.status.code == .internalError)

    let server = Self.method("Server", .serverStreaming, fault)
    let responses = client.call(server, interceptors: chain()).serverStreaming("bad")
    #expect(await status { _ = try await responses.collected() }?.code == .internalError)

    let streaming = Self.method("Client", .clientStreaming, fault)
    let collected = await status {
      _ = try await client.call(streaming, interceptors: chain()).clientStreaming(["one", "bad"])
    }
    #expect(collected?.code == .internalError)
    let collecting = client.call(streaming, interceptors: chain()).makeClientStreamingCall()
    try? await collecting.requestStream.send("bad")
    collecting.requestStream.finish()
    let collectingStatus = await collecting.status
    #expect(collectingStatus.code == .internalError, "\(collectingStatus)")

    let both = Self.method("Both", .bidirectionalStreaming, fault)
    let updates = client.call(both, interceptors: chain()).bidirectionalStreaming(["one", "bad"])
    #expect(await status { _ = try await updates.collected() }?.code == .internalError)
    let updating = client.call(both, interceptors: chain()).makeBidirectionalStreamingCall()
    try? await updating.requestStream.send("bad")
    #expect(await status { _ = try await updating.responseStream.collected() }?.code == .internalError)
    #expect(await updating.status.code == .internalError)
  }
}

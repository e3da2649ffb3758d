import CallTestSupport
import ServerTestSupport
import Switchboard
import Testing

/// Services described in Swift, over a connection and in-process.
@Suite(.timeLimit(.minutes(5))) struct DescribedServiceTests {
  @Test(arguments: [Wire.ipv4, .inProcess]) func allKindsOfCallsCarryCodableValues(_ wire: Wire) async throws
  {
    try await withChannel(to: [Stock.handlers], over: wire) { channel async throws in
      let client = MethodClient(channel: channel)
      let query = Stock.Query(name: "kettle")
      #expect(try await client.call(Stock.find).unary(query) == Stock.Item(name: "kettle", count: 3))
      let counts = try await client.call(Stock.list).serverStreaming(query).collected().map(\.count)
      #expect(counts == [1, 2, 3])
      let items = [Stock.Item(name: "a", count: 1), Stock.Item(name: "b", count: 2)]
      #expect(try await client.call(Stock.count).clientStreaming(items) == Stock.Item(name: "ab", count: 3))
      let moved = try await client.call(Stock.move).bidirectionalStreaming(items).collected().map(\.count)
      #expect(moved == [-1, -2])
      let failure = await status { _ = try await client.call(Stock.find).unary(Stock.Query(name: "nothing")) }
      #expect(failure == GRPCStatus(code: .notFound, message: "nothing"))
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func callObjectsAndAsyncSequencesCarryCodableValues(_ wire: Wire)
    async throws
  {
    try await withChannel(to: [Stock.handlers], over: wire) { channel async throws in
      let client = MethodClient(channel: channel)
      let items = AsyncStream { continuation in
        for count in 1...2 { continuation.yield(Stock.Item(name: "a", count: count)) }
        continuation.finish()
      }
      #expect(try await client.call(Stock.count).clientStreaming(items).count == 3)
      let unary = client.call(Stock.find).makeUnaryCall(Stock.Query(name: "pan"))
      #expect(try await unary.response.name == "pan")
      #expect(try await unary.initialMetadata["content-type"] == ["application/grpc+json"])
      let both = client.call(Stock.move).makeBidirectionalStreamingCall()
      try await both.requestStream.send(Stock.Item(name: "a", count: 4))
      both.requestStream.finish()
      #expect(try await both.responseStream.collected() == [Stock.Item(name: "a", count: -4)])
      let collecting = client.call(Stock.count).makeClientStreamingCall()
      try await collecting.requestStream.send(Stock.Item(name: "a", count: 4))
      collecting.requestStream.finish()
      #expect(try await collecting.response.count == 4)
      let listing = client.call(Stock.list).makeServerStreamingCall(Stock.Query(name: "a"))
      #expect(try await listing.responseStream.collected().count == 3)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func aTypeWithACustomLayoutNeedsOnlyAMarshaller(_ wire: Wire)
    async throws
  {
    try await withChannel(to: [Stock.handlers], over: wire) { channel async throws in
      let call = MethodClient(channel: channel).call(Stock.label).makeUnaryCall(Point(x: 1, y: -2))
      #expect(try await call.response == Point(x: -2, y: 1))
      #expect(try await call.initialMetadata["content-type"] == ["application/grpc+point"])
    }
  }

  @Test func aCallsOptionsOverrideTheClientsFieldByField() async throws {
    let log = Log()
    let find = Stock.find.unaryHandler { query, context in
      log.note("\(context.headers["who"]) \(context.deadline == nil ? "no deadline" : "deadline")")
      return Stock.Item(name: query.name, count: 1)
    }
    try await withChannel(to: [ServiceHandlers(Stock.service, [find])]) { channel async throws in
      let client = MethodClient(
        channel: channel,
        defaultCallOptions: .with {
          $0.initialMetadata = ["who": "the client"]
          $0.interceptorFactories = [NamingFactory(name: "default", log: log)]
        }
      )
      let query = Stock.Query(name: "pot")
      _ = try await client.call(Stock.find).unary(query)
      _ = try await client.call(Stock.find, callOptions: CallOptions(timeout: .seconds(300))).unary(query)
    }
    #expect(
      log.lines.filter { !$0.hasPrefix("<") } == [
        "> default Find", #"["the client"] no deadline"#, "> default Find", #"["the client"] deadline"#,
      ]
    )
  }

  @Test func methodsWithoutHandlersAreLogged() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let find = Stock.find.unaryHandler { query, _ in Stock.Item(name: query.name, count: 1) }
    let others = Stock.service.methods.map(\.path).filter { $0 != Stock.find.descriptor.path }
    try await withServer([ServiceHandlers(Stock.service, [find])], options: options) { _, _ async throws in }
    let said = entries.all.first { $0.message.hasPrefix("methods of a service have no handlers") }
    #expect(!others.isEmpty && said?.metadata["methods"] == others.joined(separator: ", "))
  }

  @Test func interceptorsSeeCodableValues() async throws {
    let renaming: @Sendable () -> [ServerInterceptor<Stock.Query, Stock.Item>] = { [Renamer()] }
    let find = Stock.find.unaryHandler(interceptors: renaming) { query, _ in
      Stock.Item(name: query.name, count: 1)
    }
    let handlers = ServiceHandlers(Stock.service, [find])
    try await withChannel(to: [handlers]) { channel async throws in
      #expect(handlers.serviceName == "shop.Stock")
      let item = try await MethodClient(channel: channel).call(Stock.find).unary(Stock.Query(name: "pot"))
      #expect(item.name == "POT")
    }
  }

  final class Renamer: ServerInterceptor<Stock.Query, Stock.Item> {
    override func receive(
      _ part: GRPCServerRequestPart<Stock.Query>,
      context: ServerInterceptorContext<Stock.Query, Stock.Item>
    ) {
      guard case .message(let query) = part else { return context.receive(part) }
      context.receive(.message(Stock.Query(name: query.name.uppercased())))
    }
  }
}

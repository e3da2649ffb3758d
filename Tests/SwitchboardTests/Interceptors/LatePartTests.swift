import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// Messages that interceptors pass on after the end, as one that works on each message in a task of its own does. They are lost,
/// which the log says.
@Suite(.timeLimit(.minutes(5))) struct LatePartTests {
  private let log = LogEntries()

  /// Calls with `body`, and returns what the server and the channel have logged of lost messages.
  private func losses(
    server makeServerInterceptors: (@Sendable () -> [EchoServerInterceptor])? = nil,
    client makeClientInterceptors: (@Sendable () -> [EchoClientInterceptor])? = nil,
    calling body: (Echo_EchoClient) async throws -> Void
  ) async throws -> [String] {
    let logger = Logger(log, minimumLevel: .warning)
    var (options, channelOptions) = (ServerOptions(), ChannelOptions())
    (options.logger, channelOptions.logger) = (logger, logger)
    let provider = TutorialProvider(interceptors: makeServerInterceptors.map { ServerFactory(make: $0) })
    try await withPair([provider], options: options, channel: channelOptions) { pair async throws in
      let factory = makeClientInterceptors.map { ClientFactory(make: $0) }
      try await body(Echo_EchoClient(channel: pair.channel, interceptors: factory))
    }
    return log.all.map { $0.metadata["error"] ?? $0.message }.filter { $0.contains("after the end") }
  }

  @Test func responsesThatAServersInterceptorPassesOnTooLate() async throws {
    let losses = try await losses(
      server: {
        let kept = Locked<[GRPCServerResponsePart<Echo_EchoResponse>]>([])
        return [
          ServerHook(send: { part, promise, context in
            if case .message = part { return kept.withLock { $0.append(part) } }
            context.send(part, promise: promise)
            guard case .end = part else { return }
            for late in kept.withLock({ $0 }) { context.send(late, promise: nil) }
          })
        ]
      },
      calling: { client async throws in
        #expect(try await client.expand(Echo_EchoRequest("a b")).collected().isEmpty)
      }
    )
    #expect(losses.first?.contains("a message was passed on after the end, and is lost") == true)
  }

  @Test func requestsThatAServersInterceptorPassesOnTooLate() async throws {
    let losses = try await losses(
      server: {
        let kept = Locked<[GRPCServerRequestPart<Echo_EchoRequest>]>([])
        return [
          ServerHook(receive: { part, context in
            if case .message = part {
              kept.withLock { $0.append(part) }
              return context.receiveNextMessages(1)
            }
            context.receive(part)
            guard case .end = part else { return }
            for late in kept.withLock({ $0 }) { context.receive(late) }
          })
        ]
      },
      calling: { client async throws in
        _ = try await client.collect([Echo_EchoRequest("a"), Echo_EchoRequest("b")])
      }
    )
    #expect(losses.first?.contains("a message was passed on after the end, and is lost") == true)
  }

  @Test func requestsThatAClientsInterceptorPassesOnTooLate() async throws {
    let losses = try await losses(
      client: {
        let kept = Locked<[GRPCClientRequestPart<Echo_EchoRequest>]>([])
        return [
          ClientHook(send: { part, promise, context in
            if case .message = part { return kept.withLock { $0.append(part) } }
            context.send(part, promise: promise)
            guard case .end = part else { return }
            for late in kept.withLock({ $0 }) { context.send(late, promise: nil) }
          })
        ]
      },
      calling: { client async throws in
        let status = await status { _ = try await client.collect([Echo_EchoRequest("a")]) }
        #expect(status?.code == .internalError)
        #expect(status?.message?.contains("a message was sent after the end of the requests") == true)
      }
    )
    #expect(losses.isEmpty)
  }

  /// The server has answered: what is missing can only be logged.
  @Test func requestsThatAreLateForTheAnswer() async throws {
    let losses = try await losses(
      client: {
        let kept = Locked<[GRPCClientRequestPart<Echo_EchoRequest>]>([])
        return [
          ClientHook(
            send: { part, promise, context in
              if case .message = part { return kept.withLock { $0.append(part) } }
              context.send(part, promise: promise)
            },
            receive: { part, context in
              context.receive(part)
              guard case .end = part else { return }
              for late in kept.withLock({ $0 }) { context.send(late, promise: nil) }
            }
          )
        ]
      },
      calling: { client async throws in
        _ = try await client.collect([Echo_EchoRequest("a"), Echo_EchoRequest("b")])
      }
    )
    #expect(losses == ["an interceptor passed on a request after the end: it is lost"])
  }

  @Test func responsesThatAClientsInterceptorPassesOnTooLate() async throws {
    let losses = try await losses(
      client: {
        let kept = Locked<[GRPCClientResponsePart<Echo_EchoResponse>]>([])
        return [
          ClientHook(receive: { part, context in
            if case .message = part {
              kept.withLock { $0.append(part) }
              return context.receiveNextMessages(1)
            }
            context.receive(part)
            guard case .end = part else { return }
            for late in kept.withLock({ $0 }) { context.receive(late) }
          })
        ]
      },
      calling: { client async throws in
        #expect(try await client.expand(Echo_EchoRequest("a b")).collected().isEmpty)
      }
    )
    #expect(losses == ["an interceptor passed on a response after the end: it is lost"])
  }

  /// Who cancels wants nothing of what is still under way.
  @Test func aCallThatIsCancelledLosesNothing() async throws {
    let losses = try await losses(
      client: {
        [
          ClientHook(receive: { part, context in
            guard case .message = part else { return context.receive(part) }
            context.cancel(promise: nil)
            context.eventLoop.execute { context.eventLoop.execute { context.receive(part) } }
          })
        ]
      },
      calling: { client async throws in
        _ = await status { _ = try await client.expand(Echo_EchoRequest("a b")).collected() }
      }
    )
    #expect(losses.isEmpty)
  }

  @Test func metadataOfAnInterceptorAreJoinedByTheHandlers() async throws {
    let provider = MetadataProvider(
      interceptors: ServerFactory(make: {
        [
          ServerHook(receive: { part, context in
            if case .metadata = part { context.send(.metadata(["of-interceptor": "1"]), promise: nil) }
            context.receive(part)
          })
        ]
      })
    )
    try await withChannel(to: [provider]) { channel async throws in
      let call = Echo_EchoClient(channel: channel).makeGetCall(Echo_EchoRequest("x"))
      _ = try await call.response
      let metadata = try await call.initialMetadata
      #expect(metadata["of-interceptor"] == ["1"] && metadata["of-handler"] == ["2"])
    }
  }

  private struct MetadataProvider: EchoingProvider {
    let interceptors: (any Echo_EchoServerInterceptorFactoryProtocol)?

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      await Task.yield()
      context.setInitialMetadata(["of-handler": "2"])
      return .with { $0.text = request.text }
    }
  }
}

import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// What an interceptor may change about a call before it starts.
@Suite(.timeLimit(.minutes(5))) struct ContextTests {
  @Test func anInterceptorCanShortenTheTimeout() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client(timeout: nil) {
        [
          ClientHook(send: { part, promise, context in
            if case .metadata = part { context.options.timeout = .milliseconds(30) }
            context.send(part, promise: promise)
          })
        ]
      }
      let never = AsyncStream<Echo_EchoRequest> { _ in }
      #expect(await status { _ = try await client.update(never).collected() }?.code == .deadlineExceeded)
    }
  }

  @Test func aTimeoutAppliesToACallThatTheChainHoldsBack() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client(timeout: nil) {
        [
          ClientHook(send: { part, promise, context in
            if case .metadata = part { context.options.timeout = .milliseconds(30) }
          })
        ]
      }
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded)
    }
  }

  @Test func interceptorsCanChangeOtherOptions() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(receive: { part, context in
          if case .metadata(let headers) = part { log.note("\(headers["x"])") }
          context.receive(part)
        })
      ]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client {
        [
          ClientHook(send: { part, promise, context in
            if case .metadata = part { context.options.responseSizeLimit = 3 }
            context.send(part, promise: promise)
          })
        ]
      }
      var options = CallOptions()
      options.initialMetadata = ["x": "y"]
      let failure = await status { _ = try await client.get(Echo_EchoRequest("x"), callOptions: options) }
      #expect(failure?.code == .resourceExhausted)
    }
    #expect(log.lines == [#"["y"]"#])
  }

  @Test func logEntriesGoToTheLoggerOfTheOptions() async throws {
    struct Entries: LogHandler {
      let side: String
      let log: Log

      func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
        if message == "here" { log.note("\(side) \(metadata["who"] ?? "nobody")") }
      }
    }
    let log = Log()
    var serverOptions = ServerOptions()
    serverOptions.logger = Logger(Entries(side: "server", log: log))
    let provider = TutorialProvider(
      interceptors: ServerFactory {
        [
          ServerHook(receive: { part, context in
            if case .end = part { context.logger.log(.info, "here") }
            context.receive(part)
          })
        ]
      }
    )
    try await withChannel(to: [provider], options: serverOptions) { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        defaultCallOptions: .with {
          $0.logger = Logger(Entries(side: "client", log: log))
          $0.logContext = ["who": "maps"]
        },
        interceptors: ClientFactory {
          [
            ClientHook(send: { part, promise, context in
              if case .end = part { context.logger.log(.info, "here") }
              context.send(part, promise: promise)
            })
          ]
        }
      )
      _ = try await client.get(Echo_EchoRequest("x"))
    }
    #expect(log.lines == ["client maps", "server nobody"])
  }

  /// In a call that compresses, single messages can stay uncompressed. Only the side without interceptors can see that.
  @Test(arguments: [false, true]) func interceptorsChooseTheCompressionOfEachMessage(_ onServer: Bool)
    async throws
  {
    let log = Log()
    let hook: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(send: { part, promise, context in
          guard case .message(let message, _) = part else { return context.send(part, promise: promise) }
          let metadata = MessageMetadata(compress: message.text.hasPrefix("yes"))
          context.send(.message(message, metadata), promise: promise)
        })
      ]
    }
    let handler = Method(
      Echo_EchoMetadata.Methods.update.descriptor,
      requests: ProtobufMarshaller<Echo_EchoRequest>(),
      responses: ProtobufMarshaller<Echo_EchoResponse>()
    ).bidirectionalStreamingHandler(
      interceptors: onServer ? hook : nil,
      { requests, responses, context in
        context.setCompression(.gzip)
        var iterator = requests.makeAsyncIterator()
        while let request = try await iterator.next() {
          if !onServer { log.note("\(request.text.prefix(3)) \(iterator.lastWasCompressed)") }
          try await responses.send(.with { $0.text = request.text })
        }
      }
    )
    let factory = ClientFactory {
      [
        ClientHook(send: { part, promise, context in
          guard case .message(let message, _) = part else { return context.send(part, promise: promise) }
          let metadata = MessageMetadata(compress: message.text.hasPrefix("yes"))
          context.send(.message(message, metadata), promise: promise)
        })
      ]
    }
    try await withChannel(to: [OneMethod(handler: handler)]) { channel async throws in
      let options = CallOptions(compression: .gzip)
      let client = Echo_EchoClient(
        channel: channel,
        defaultCallOptions: options,
        interceptors: onServer ? nil : factory
      )
      let requests = ["yes", "not", "yes"].map { Echo_EchoRequest($0 + String(repeating: "x", count: 1000)) }
      var answers = client.update(requests).makeAsyncIterator()
      while let answer = try await answers.next() {
        if onServer { log.note("\(answer.text.prefix(3)) \(answers.lastWasCompressed)") }
      }
    }
    #expect(log.lines == ["yes true", "not false", "yes true"])
  }

  private struct OneMethod: CallHandlerProvider {
    let handler: MethodHandler

    var serviceName: String { "echo.Echo" }
    var methodHandlers: [MethodHandler] { [handler] }
  }

  @Test func requestOptionsDescribeTheTargetOfTheCall() async throws {
    let log = Log()
    try await withServer([TutorialProvider()]) { _, address async throws in
      let target = "\(address)"
      try await withChannel(to: target) { channel async throws in
        let client = Echo_EchoClient(
          channel: channel,
          interceptors: ClientFactory {
            [
              ClientHook(send: { part, promise, context in
                if case .metadata = part {
                  context.safety = .cacheableRequest
                  let options = context.requestOptions
                  log.note("\(options.host == target) \(options.path) \(options.safety)")
                }
                context.send(part, promise: promise)
              })
            ]
          }
        )
        _ = try await client.get(Echo_EchoRequest("x"))
        #expect(log.lines == ["true /echo.Echo/Get cacheableRequest"])
      }
    }
  }

  @Test func anInterceptorCanRedirectACall() async throws {
    try await withServer([TutorialProvider()]) { _, address async throws in
      let target = "\(address)"
      try await withChannel(to: "127.0.0.1:1") { channel async throws in
        let client = Echo_EchoClient(
          channel: channel,
          interceptors: ClientFactory {
            [
              ClientHook(send: { part, promise, context in
                if case .metadata = part { context.host = target }
                context.send(part, promise: promise)
              })
            ]
          }
        )
        #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
        #expect(try await client.get(Echo_EchoRequest("y")).text == "Swift echo get: y")
      }
    }
  }

  @Test func anInterceptorCanRedirectACallOfAPooledClient() async throws {
    try await withServer([TutorialProvider()]) { _, address async throws in
      let target = "\(address)"
      let (pool, hosts) = (try ChannelPool(), Log())
      let client = Echo_EchoClient(
        host: "127.0.0.1:1",
        options: .with { $0.security = .plaintext },
        interceptors: ClientFactory {
          [
            ClientHook(send: { part, promise, context in
              if case .metadata = part {
                hosts.note(context.host)
                context.host = target
              }
              context.send(part, promise: promise)
            })
          ]
        },
        pool: pool
      )
      for text in ["x", "y"] {
        #expect(try await client.get(Echo_EchoRequest(text)).text == "Swift echo get: \(text)")
      }
      #expect(hosts.lines == ["127.0.0.1:1", "127.0.0.1:1"])
      // Both calls used one channel, and none was made to the client's own host.
      #expect(pool.channelCount == 1)
      await pool.shutDown(grace: .zero)
    }
  }

  @Test func interceptorsCanChangeChannelOptionsOfAPooledClient() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(receive: { part, context in
          if case .metadata(let headers) = part { log.note(headers.first(name: "user-agent") ?? "") }
          context.receive(part)
        })
      ]
    }
    try await withServer([TutorialProvider(interceptors: ServerFactory(make: make))]) {
      _,
      address async throws in
      let target = "\(address)"
      try await withPool(try ChannelPool()) { pool async throws in
        let client = Echo_EchoClient(
          host: target,
          interceptors: ClientFactory {
            [
              ClientHook(send: { part, promise, context in
                if case .metadata = part {
                  context.options.security = .plaintext
                  context.options.userAgentPrefix = "changed/1"
                }
                context.send(part, promise: promise)
              })
            ]
          },
          pool: pool
        )
        #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
        #expect(log.lines.first?.hasPrefix("changed/1 ") == true)
      }
    }
  }

  @Test func anUnreachableHostFailsTheCall() async throws {
    try await withChannel(try Channel(inProcess: [TutorialProvider()])) { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        interceptors: ClientFactory {
          [
            ClientHook(send: { part, promise, context in
              if case .metadata = part { context.host = "elsewhere" }
              context.send(part, promise: promise)
            })
          ]
        }
      )
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unimplemented)
    }
  }
}

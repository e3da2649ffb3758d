import CallTestSupport
import EchoService
import ServerTestSupport
import Testing

@testable import Switchboard
@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Clients that name a host, and the channels that they share.
@Suite(.timeLimit(.minutes(5))) struct ChannelPoolTests {
  /// Counts a server's connections.
  final class Connections: CallObserver {
    let opened = LiveCount()
    let closed = Log()

    func connectionOpened(_ connection: ObservedConnection) { opened.add(1) }

    func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) { closed.note("closed") }
  }

  struct Scene {
    let host: String
    let connections: Connections
    let pool: ChannelPool
    let options = CallOptions.with { $0.security = .plaintext }

    func client(_ change: (inout CallOptions) -> Void = { _ in }) -> Echo_EchoClient {
      var options = options
      change(&options)
      return Echo_EchoClient(host: host, options: options, pool: pool)
    }

    static func with(_ makePool: () throws -> ChannelPool, _ body: (Scene) async throws -> Void) async throws
    {
      let connections = Connections()
      var options = ServerOptions()
      options.observer = connections
      try await withServer([TutorialProvider()], options: options) { _, address async throws in
        try await withPool(try makePool()) { pool async throws in
          try await body(Scene(host: "\(address)", connections: connections, pool: pool))
        }
      }
    }
  }

  private func call(_ client: Echo_EchoClient, _ options: CallOptions? = nil) async throws {
    #expect(try await client.get(Echo_EchoRequest("x"), callOptions: options).text == "Swift echo get: x")
  }

  @Test func equalOptionsShareAConnection() async throws {
    try await Scene.with {
      try ChannelPool()
    } _: { scene in
      try await call(scene.client())
      try await call(scene.client())
      // Choosing a default makes no difference.
      try await call(
        scene.client {
          $0.channelID = 0
          $0.connectMaxBackoff = .seconds(120)
          $0.additionalChannelArgs = [:]
        }
      )
      // Neither do options of the call alone.
      try await call(
        scene.client {
          $0.timeout = .seconds(300)
          $0.initialMetadata = ["a": "b"]
          $0.oauth2AccessToken = "t"
          $0.serverAuthority = "elsewhere"
        }
      )
      #expect(scene.pool.channelCount == 1)
      #expect(scene.connections.opened.count == 1)
    }
  }

  @Test func differentOptionsNeverShareAConnection() async throws {
    let changes: [@Sendable (inout CallOptions) -> Void] = [
      { $0.userAgentPrefix = "u" }, { $0.responseSizeLimit = 1000 }, { $0.compression = .gzip },
      { $0.enableRetry = false }, { $0.keepaliveInterval = .seconds(100) },
      { $0.keepaliveTimeout = .seconds(1) }, { $0.connectMinTimeout = .seconds(1) },
      { $0.connectInitialBackoff = .seconds(2) }, { $0.connectMaxBackoff = .seconds(60) },
      { $0.additionalChannelArgs = ["anything": 1] }, { $0.hostNameOverride = "h" },
      { $0.logContext = ["a": "b"] }, { $0.channelPoolDomain = "d" }, { $0.channelPoolDomain = "e" },
      { $0.channelID = 1 }, { $0.channelID = 2 }, { $0.maxMetadataSize = 8000 },
      { $0.hpackTableSizeEncoder = 100 }, { $0.hpackTableSizeDecoder = 100 },
      { $0.maxConcurrentStreams = 10 }, { $0.streamLookahead = 100_000 }, { $0.retryBufferSize = 10 },
      { $0.serviceConfig = try? ServiceConfig() },
    ]
    try await Scene.with {
      try ChannelPool()
    } _: { scene in
      try await call(scene.client())
      for change in changes { try await call(scene.client(change)) }
      #expect(scene.pool.channelCount == changes.count + 1)
      #expect(scene.connections.opened.count == changes.count + 1)
    }
  }

  @Test func differentCredentialsNeverShareAChannel() throws {
    let secure = try ChannelArguments(.with { $0.pemRootCert = "a" })
    #expect(try ChannelArguments(.with { $0.pemRootCert = "a" }) == secure)
    #expect(try ChannelArguments(.with { $0.pemRootCert = "b" }) != secure)
    #expect(
      try ChannelArguments(
        .with {
          $0.pemRootCert = "a"
          $0.pemCertChain = "c"
          $0.pemPrivateKey = "k"
        }
      ) != secure
    )
    #expect(try ChannelArguments(.with { $0.security = .plaintext }) != ChannelArguments(CallOptions()))
  }

  @Test func aCallsOptionsCanSelectAnotherChannel() async throws {
    try await Scene.with {
      try ChannelPool()
    } _: { scene in
      let client = scene.client()
      try await call(client)
      try await call(client, CallOptions(timeout: .seconds(300)))
      #expect(scene.pool.channelCount == 1)
      try await call(client, .with { $0.channelID = 7 })
      try await call(client, .with { $0.channelID = 7 })
      #expect(scene.pool.channelCount == 2)
      try await call(client)
      #expect(scene.connections.opened.count == 2)
    }
  }

  @Test func poolsDoNotShareChannels() async throws {
    try await Scene.with {
      try ChannelPool()
    } _: { scene in
      let other = try ChannelPool()
      try await call(scene.client())
      try await call(Echo_EchoClient(host: scene.host, options: scene.options, pool: other))
      #expect(scene.connections.opened.count == 2)
      await other.shutDown(grace: .zero)
      #expect(
        await status {
          try await call(Echo_EchoClient(host: scene.host, options: scene.options, pool: other))
        }?.code
          == .unavailable
      )
      try await call(scene.client())
    }
  }

  @Test func clientsWithoutAPoolShareTheProcessPool() async throws {
    try await Scene.with {
      try ChannelPool()
    } _: { scene in
      // A separate domain, so that this test leaves nothing to others.
      var options = scene.options
      options.channelPoolDomain = scene.host
      try await call(Echo_EchoClient(host: scene.host, options: options))
      try await call(Echo_EchoClient(host: scene.host, options: options))
      #expect(scene.connections.opened.count == 1)
      #expect(scene.pool.channelCount == 0)
    }
  }

  @Test func clientsOnManyLoopsShareConnections() async throws {
    try await Scene.with {
      try ChannelPool(group: try LoopGroup(count: 3))
    } _: { scene in
      for _ in 0..<6 { try await call(scene.client()) }
      #expect(scene.connections.opened.count == 1)
    }
  }

  @Test func aClientsChannelConnectsOnRequest() async throws {
    try await Scene.with {
      try ChannelPool()
    } _: { scene in
      let channel = Channel(host: scene.host, options: scene.options, pool: scene.pool)
      channel.connect()
      try await scene.connections.opened.isAtLeast(1)
      try await call(Echo_EchoClient(channel: channel, defaultCallOptions: scene.options))
      #expect(scene.connections.opened.count == 1)
      #expect(scene.pool.channelCount == 1)
    }
  }

  @Test func aClientsStreamsHaveTheChosenBuffer() throws {
    var options = CallOptions()
    let pool = try ChannelPool()
    #expect(Channel(host: "x:1", options: options, pool: pool).transport.streamBufferSize == 256 * 1024)
    options.streamBufferSize = 1000
    #expect(Channel(host: "x:1", options: options, pool: pool).transport.streamBufferSize == 1000)
  }

  // MARK: Idleness

  @Test func anUnusedChannelClosesAfterTheIdleTimeout() async throws {
    let time = ManualTime()
    try await Scene.with {
      try ChannelPool(idleTimeout: .seconds(30), time: time)
    } _: { scene in
      let client = scene.client()
      try await call(client)
      // The first check finds that it was used.
      for _ in 0..<3 {
        #expect(scene.pool.channelCount == 1)
        #expect(await time.nextWait() == .seconds(15))
        time.advance(by: .seconds(15))
      }
      #expect(try await scene.connections.closed.lines(atLeast: 1) == ["closed"])
      #expect(scene.pool.channelCount == 0)
      // The client notices nothing.
      try await call(client)
      #expect(scene.pool.channelCount == 1)
      #expect(scene.connections.opened.count == 2)
    }
  }

  @Test func aChannelInUseStaysOpen() async throws {
    let time = ManualTime()
    try await Scene.with {
      try ChannelPool(idleTimeout: .seconds(30), time: time)
    } _: { scene in
      let client = scene.client()
      let open = client.makeUpdateCall()
      try await open.requestStream.send(Echo_EchoRequest("x"))
      var responses = open.responseStream.makeAsyncIterator()
      #expect(try await responses.next()?.text == "x")
      for _ in 0..<10 {
        #expect(await time.nextWait() == .seconds(15))
        time.advance(by: .seconds(15))
      }
      #expect(await time.nextWait() == .seconds(15))
      #expect(scene.pool.channelCount == 1)
      open.requestStream.finish()
      #expect(try await responses.next() == nil)
      // Occasional calls keep it open too.
      for _ in 0..<10 {
        try await call(client)
        time.advance(by: .seconds(15))
        #expect(await time.nextWait() == .seconds(15))
      }
      #expect(scene.connections.opened.count == 1)
    }
  }

  @Test func releasingAPoolClosesItsChannels() async throws {
    try await Scene.with {
      try ChannelPool()
    } _: { scene in
      do {
        let pool = try ChannelPool()
        try await call(Echo_EchoClient(host: scene.host, options: scene.options, pool: pool))
        #expect(scene.connections.opened.count == 1)
        #expect(scene.connections.closed.lines.isEmpty)
      }
      #expect(try await scene.connections.closed.lines(atLeast: 1) == ["closed"])
    }
  }

  // MARK: Errors become the status of each call

  @Test func anInvalidHostFailsTheCalls() async throws {
    let pool = try ChannelPool()
    let client = Echo_EchoClient(host: "no/such", options: CallOptions(), pool: pool)
    #expect(await status { try await call(client) }?.code == .invalidArgument)
    let streamed = client.makeUpdateCall()
    #expect(await streamed.status.code == .invalidArgument)
    await #expect(throws: GRPCStatus.self) { try await streamed.requestStream.send(Echo_EchoRequest("x")) }
  }

  @Test func contradictoryOptionsFailTheCalls() async throws {
    let pool = try ChannelPool()
    let changes: [(String, (inout CallOptions) -> Void)] = [
      (
        "plaintext",
        {
          $0.security = .plaintext
          $0.pemRootCert = "x"
        }
      ),
      ("pemPrivateKey", { $0.pemCertChain = "x" }),
      (
        "backoff",
        {
          $0.connectInitialBackoff = .seconds(9)
          $0.connectMaxBackoff = .seconds(1)
        }
      ),
      ("grpc.keepalive_time_ms", { $0.additionalChannelArgs = ["grpc.keepalive_time_ms": "soon"] }),
      ("grpc.enable_retries", { $0.additionalChannelArgs = ["grpc.enable_retries": 5] }),
      ("grpc.max_metadata_size", { $0.additionalChannelArgs = ["grpc.max_metadata_size": -5] }),
      ("grpc.primary_user_agent", { $0.additionalChannelArgs = ["grpc.primary_user_agent": 5] }),
      ("service config", { $0.additionalChannelArgs = ["grpc.service_config": "{"] }),
      ("streamLookahead", { $0.streamLookahead = .max }),
      ("stream", { $0.maxConcurrentStreams = 0 }),
    ]
    for (word, change) in changes {
      let client = Echo_EchoClient(host: "localhost:1", options: .with(change), pool: pool)
      let failure = await status { try await call(client) }
      #expect(failure?.code == .invalidArgument)
      #expect(failure?.message?.contains(word) == true, "\(word): \(failure as Any)")
    }
  }
}

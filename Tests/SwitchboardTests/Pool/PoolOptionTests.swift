import CallTestSupport
import EchoService
import ServerTestSupport
import Testing

@testable import Echo
@testable import Switchboard
@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The options of a pool's channels; the transport's tests show their effects.
@Suite(.timeLimit(.minutes(5))) struct PoolOptionTests {
  private func channelOptions(_ change: (inout CallOptions) -> Void) throws -> ChannelOptions {
    try ChannelOptions(try ChannelArguments(.with(change)))
  }

  @Test func everyOptionReachesTheChannel() throws {
    let options = try channelOptions {
      $0.userAgentPrefix = "app/1"
      $0.responseSizeLimit = 1000
      $0.keepaliveInterval = .seconds(1)
      $0.keepaliveTimeout = .seconds(2)
      $0.connectMinTimeout = .seconds(3)
      $0.connectInitialBackoff = .seconds(4)
      $0.connectMaxBackoff = .seconds(5)
      $0.pemRootCert = "root"
      $0.pemCertChain = "chain"
      $0.pemPrivateKey = "key"
      $0.hostNameOverride = "name"
      $0.maxMetadataSize = 6
      $0.hpackTableSizeEncoder = 7
      $0.hpackTableSizeDecoder = 8
      $0.maxConcurrentStreams = 9
      $0.streamLookahead = 10_000_000
      $0.retryBufferSize = 11
    }
    #expect(options.userAgentPrefix == "app/1")
    #expect(options.responseSizeLimit == 1000)
    #expect(options.keepaliveInterval == .seconds(1))
    #expect(options.keepaliveTimeout == .seconds(2))
    #expect(options.connectMinTimeout == .seconds(3))
    #expect(options.connectInitialBackoff == .seconds(4))
    #expect(options.connectMaxBackoff == .seconds(5))
    #expect(options.tls?.trustRoots == .bytes(Array("root".utf8)))
    #expect(options.tls?.credentials?.certificateChain == .bytes(Array("chain".utf8)))
    #expect(options.tls?.credentials?.privateKey == .bytes(Array("key".utf8)))
    #expect(options.tls?.serverNameOverride == "name")
    #expect(options.authority == "name")
    #expect(options.maxMetadataSize == 6)
    #expect(options.hpackTableSizeEncoder == 7)
    #expect(options.hpackTableSizeDecoder == 8)
    #expect(options.maxConcurrentStreams == 9)
    #expect(options.streamLookahead == 10_000_000)
    #expect(options.connectionWindow == 10_000_000)
    #expect(options.retryBufferSize == 11)
  }

  /// Including those without a name in L38.
  @Test func everyOptionOfAChannelCanBeChosen() throws {
    let options = try channelOptions {
      $0.maxConnections = 7
      $0.lowLatency = true
      $0.security = .tls(ClientTLS(minimumVersion: .tls13))
      $0.pemRootCert = "root"
    }
    #expect(options.maxConnections == 7)
    #expect(options.lowLatency)
    #expect(options.tls == ClientTLS(trustRoots: .bytes(Array("root".utf8)), minimumVersion: .tls13))
  }

  /// Neither the order of choices nor a chosen default makes a difference.
  @Test func equalChoicesCompareEqual() throws {
    let one = CallOptions.with {
      $0.keepaliveInterval = .seconds(30)
      $0.channelID = 3
      $0.maxConnections = ChannelOptions().maxConnections
    }
    var other = CallOptions.with { $0.keepaliveInterval = .seconds(31) }
    other.channelID = 3
    other.keepaliveInterval = nil
    #expect(try ChannelArguments(one) != ChannelArguments(other))
    other.keepaliveInterval = .seconds(30)
    #expect(try ChannelArguments(one) == ChannelArguments(other))
    #expect(try ChannelArguments(one).hashValue == ChannelArguments(other).hashValue)
  }

  /// The target decides, as for channels that are made without a pool.
  @Test func securityIsAutomaticByDefault() throws {
    #expect(try channelOptions { _ in }.security == .automatic)
    #expect(try channelOptions { $0.security = .plaintext }.security == .plaintext)
  }

  @Test func channelArgumentsSetOptions() throws {
    let options = try channelOptions {
      $0.additionalChannelArgs = [
        "grpc.primary_user_agent": "app/2", "grpc.max_message_length": 1,
        "grpc.max_receive_message_length": 2,
        "grpc.keepalive_time_ms": 3000, "grpc.keepalive_timeout_ms": 4000,
        "grpc.keepalive_permit_without_calls": true, "grpc.min_reconnect_backoff_ms": 5000,
        "grpc.initial_reconnect_backoff_ms": 6000, "grpc.max_reconnect_backoff_ms": 7000,
        "grpc.ssl_target_name_override": "name", "grpc.default_authority": "authority",
        "grpc.max_metadata_size": 8, "grpc.http2.hpack_table_size.encoder": 9,
        "grpc.http2.hpack_table_size.decoder": 10, "grpc.max_concurrent_streams": 11,
        "grpc.http2.lookahead_bytes": 12, "grpc.something_else": "x",
      ]
    }
    #expect(options.userAgentPrefix == "app/2")
    #expect(options.responseSizeLimit == 2)
    #expect(options.keepaliveInterval == .seconds(3))
    #expect(options.keepaliveTimeout == .seconds(4))
    #expect(options.keepaliveWithoutCalls)
    #expect(options.connectMinTimeout == .seconds(5))
    #expect(options.connectInitialBackoff == .seconds(6))
    #expect(options.connectMaxBackoff == .seconds(7))
    #expect(options.tls?.serverNameOverride == "name")
    #expect(options.authority == "authority")
    #expect(options.maxMetadataSize == 8)
    #expect(options.hpackTableSizeEncoder == 9)
    #expect(options.hpackTableSizeDecoder == 10)
    #expect(options.maxConcurrentStreams == 11)
    #expect(options.streamLookahead == 12)
  }

  @Test func anOptionOverridesAChannelArgument() throws {
    let options = try channelOptions {
      $0.keepaliveInterval = .seconds(1)
      $0.responseSizeLimit = 5
      $0.additionalChannelArgs = [
        "grpc.keepalive_time_ms": 9000, "grpc.keepalive_timeout_ms": 9000,
        "grpc.max_receive_message_length": 9,
      ]
    }
    #expect(options.keepaliveInterval == .seconds(1))
    #expect(options.keepaliveTimeout == .seconds(9))
    #expect(options.responseSizeLimit == 5)
    #expect(
      try channelOptions { $0.additionalChannelArgs = ["grpc.max_receive_message_length": -1] }
        .responseSizeLimit
        == Int(UInt32.max)
    )
  }

  @Test func channelArgumentsConfigureRetries() throws {
    let json = #"{"methodConfig": [{"name": [{}], "waitForReady": true}]}"#
    let arguments = try ChannelArguments(
      .with {
        $0.additionalChannelArgs = [
          "grpc.service_config": .string(json), "grpc.enable_retries": false,
          "grpc.per_rpc_retry_buffer_size": 77,
        ]
      }
    )
    #expect(arguments.channel[\.serviceConfig] == (try ServiceConfig(json: json)))
    #expect(!arguments.channel.options.enableRetry)
    #expect(arguments.channel[\.retryBufferSize] == 77)
  }

  /// It would disable the check of the certificate.
  @Test func anEmptyNameIsRefused() async throws {
    #expect(throws: GRPCStatus.self) { try channelOptions { $0.hostNameOverride = "" } }
    #expect(throws: GRPCStatus.self) {
      try channelOptions { $0.additionalChannelArgs = ["grpc.ssl_target_name_override": ""] }
    }
    let pool = try ChannelPool()
    for options in [
      CallOptions.with { $0.hostNameOverride = "" },
      .with { $0.additionalChannelArgs = ["grpc.ssl_target_name_override": ""] },
      .with { $0.hostNameOverride = "switchboard.test\0.example" }, .with { $0.hostNameOverride = ".test" },
    ] {
      let client = Echo_EchoClient(host: "127.0.0.1:1", options: options, pool: pool)
      let failure = await status { _ = try await client.get(Echo_EchoRequest("x")) }
      #expect(failure?.code == .invalidArgument)
    }
  }

  @Test func credentialsSecureTheChannel() async throws {
    func text(_ source: PEMSource?) -> String {
      guard case .bytes(let bytes) = source else { return "" }
      return String(decoding: bytes, as: UTF8.self)
    }
    let credentials = SampleCertificates.server
    var serverOptions = ServerOptions()
    serverOptions.tls = ServerTLS(
      credentials: credentials,
      clientCertificates: .required,
      trustRoots: SampleCertificates.authority
    )
    try await withServer([TutorialProvider()], options: serverOptions) { server, _ async throws in
      let address = try server.bind(host: "127.0.0.2", port: 0)
      try await withPool(try ChannelPool()) { pool async throws in
        var options = CallOptions.with {
          $0.pemRootCert = text(SampleCertificates.authority)
          $0.pemCertChain = text(credentials.certificateChain)
          $0.pemPrivateKey = text(credentials.privateKey)
          $0.hostNameOverride = SampleCertificates.serverName
        }
        func call() async -> GRPCStatus? {
          let client = Echo_EchoClient(host: "\(address)", options: options, pool: pool)
          return await status { _ = try await client.get(Echo_EchoRequest("x")) }
        }
        #expect(await call() == nil)
        // The certificate is for another address than the server's.
        options.hostNameOverride = nil
        #expect(await call()?.code == .unavailable)
        options.hostNameOverride = SampleCertificates.serverName
        options.pemRootCert = nil
        #expect(await call()?.code == .unavailable)
        options.pemRootCert = text(SampleCertificates.authority)
        options.pemCertChain = nil
        options.pemPrivateKey = nil
        #expect(await call()?.code == .unavailable)
        #expect(pool.channelCount == 4)
      }
    }
  }

  @Test func theLogContextIsInTheEntriesOfConnections() async throws {
    struct Entries: LogHandler {
      let log: Log

      func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
        log.note(metadata["who"] ?? "nobody: \(message)")
      }
    }
    let log = Log()
    try await withPool(try ChannelPool(logger: Logger(Entries(log: log), minimumLevel: .trace))) {
      pool async throws in
      let options = CallOptions.with {
        $0.security = .plaintext
        $0.logContext = ["who": "maps"]
      }
      let client = Echo_EchoClient(host: "127.0.0.1:1", options: options, pool: pool)
      #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .unavailable)
      let lines = try await log.lines(atLeast: 1)
      #expect(lines.allSatisfy { $0 == "maps" })
    }
  }

  /// The options that a server can see.
  @Test func theServerSeesTheOptions() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [
        ServerHook(receive: { part, context in
          if case .metadata(let headers) = part {
            for name in ["user-agent", "authorization", "own"] {
              log.note(headers.first(name: name) ?? "no \(name)")
            }
          }
          context.receive(part)
        })
      ]
    }
    try await withServer([TutorialProvider(interceptors: ServerFactory(make: make))]) {
      _,
      address async throws in
      try await withPool(try ChannelPool()) { pool async throws in
        let options = CallOptions.with {
          $0.security = .plaintext
          $0.userAgentPrefix = "app/1"
          $0.oauth2AccessToken = "secret"
          $0.initialMetadata = ["own": "metadata"]
        }
        let client = Echo_EchoClient(host: "\(address)", options: options, pool: pool)
        _ = try await client.get(Echo_EchoRequest("x"))
        #expect(log.lines.first?.hasPrefix("app/1 grpc-swift-switchboard/") == true)
        #expect(Array(log.lines.dropFirst()) == ["Bearer secret", "metadata"])
      }
    }
  }
}

extension ChannelOptions {
  fileprivate var tls: ClientTLS? { if case .tls(let tls) = security { tls } else { nil } }
}

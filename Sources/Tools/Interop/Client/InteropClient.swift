import InteropService
import Switchboard

/// Runs the test cases against one server.
struct InteropClient: Sendable {
  /// The extent of test cases that their descriptions leave open; tests use smaller values.
  struct Scale: Sendable {
    var concurrentCalls = 1000
    /// How long a channel stays idle.
    var idle = Duration.seconds(1)
  }

  let arguments: Arguments
  var scale = Scale()
  let service: Grpc_Testing_TestServiceClient
  /// Metadata for all calls, in addition to that of the test case.
  let metadata: HPACKHeaders

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    metadata = HPACKHeaders(try arguments.additionalMetadata)
    service = try Self.connect(arguments, metadata)
  }

  /// Connects a client to the server on its own channel.
  static func connect(
    _ arguments: Arguments,
    _ metadata: HPACKHeaders
  ) throws -> Grpc_Testing_TestServiceClient {
    var options = ChannelOptions()
    options.security = try arguments.clientTLS.map { .tls($0) } ?? .plaintext
    options.authority = arguments.string("server_host_override")
    let host = arguments.string("server_host") ?? "localhost"
    let port = arguments.number("server_port")
    let channel =
      host.hasPrefix("unix:")
      ? try Channel(target: host, options: options)
      : try Channel.connect(host: host, port: port, options: options)
    return Grpc_Testing_TestServiceClient(
      channel: channel,
      defaultCallOptions: CallOptions(initialMetadata: metadata)
    )
  }

  /// Runs a test case; throws if it fails. Returns a remark on success, if there is one.
  func run(_ test: TestCase) async throws -> String? {
    switch test {
    case .emptyUnary: try await emptyUnary()
    case .largeUnary: try await largeUnary()
    case .cacheableUnary: try await cacheableUnary()
    case .clientCompressedUnary: try await clientCompressedUnary()
    case .serverCompressedUnary: try await serverCompressedUnary()
    case .clientStreaming: try await clientStreaming()
    case .clientCompressedStreaming: try await clientCompressedStreaming()
    case .serverStreaming: try await serverStreaming()
    case .serverCompressedStreaming: try await serverCompressedStreaming()
    case .pingPong: try await pingPong()
    case .emptyStream: try await emptyStream()
    case .customMetadata: try await customMetadata()
    case .statusCodeAndMessage: try await statusCodeAndMessage()
    case .specialStatusMessage: try await specialStatusMessage()
    case .unimplementedMethod: try await unimplementedMethod()
    case .unimplementedService: try await unimplementedService()
    case .cancelAfterBegin: try await cancelAfterBegin()
    case .cancelAfterFirstResponse: try await cancelAfterFirstResponse()
    case .timeoutOnSleepingServer: try await timeoutOnSleepingServer()
    case .concurrentLargeUnary: try await concurrentLargeUnary()
    case .rpcSoak: return try await soak(newChannels: false)
    case .channelSoak: return try await soak(newChannels: true)
    case .longLivedChannel: try await longLivedChannel()
    case .pickFirstUnary: try await pickFirstUnary()
    case .oauth2AuthToken: try await oauth2AuthToken()
    case .perRPCCredentials: try await perRPCCredentials()
    case .jwtTokenCredentials: try await jwtTokenCredentials()
    case .goaway: try await longLivedChannel()
    case .rstAfterHeader, .rstDuringData, .rstAfterData: try await failsByReset()
    case .ping: try await largeUnary()
    case .maxStreams: try await maxStreams()
    }
    return nil
  }

  /// Shuts down the channel after the server has received the remaining acknowledgments. Calls that a case left open
  /// end with it.
  func shutDown() async { await service.channel.shutDown(grace: .seconds(1)) }
}

import InteropService
import Switchboard

/// Runs the test cases against one server.
struct InteropClient: Sendable {
  /// How much a case does where its description leaves it open, or where tests have less time.
  struct Scale: Sendable {
    var concurrentCalls = 1000
    /// How long a channel is left without calls.
    var idle = Duration.seconds(1)
  }

  let arguments: Arguments
  var scale = Scale()
  let service: Grpc_Testing_TestServiceClient
  /// What the call's metadata gets beside what a case has to say.
  let metadata: HPACKHeaders

  init(_ arguments: Arguments) throws {
    self.arguments = arguments
    metadata = HPACKHeaders(try arguments.additionalMetadata)
    service = try Self.connect(arguments, metadata)
  }

  /// A client of the server on a channel of its own.
  static func connect(
    _ arguments: Arguments,
    _ metadata: HPACKHeaders
  ) throws -> Grpc_Testing_TestServiceClient {
    var options = ChannelOptions()
    options.tls = try arguments.clientTLS
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

  /// Throws what the case found to be otherwise than it has to be. What it is worth saying of a success is returned.
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

  /// Ends the channel, once the server has had the answers to what it said last. Calls under way, which a case left
  /// behind, end with it.
  func shutDown() async { await service.channel.shutDown(grace: .seconds(1)) }
}

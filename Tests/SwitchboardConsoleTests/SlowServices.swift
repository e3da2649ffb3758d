import Switchboard
import SwitchboardCall
import SwitchboardDescriptors
import SwitchboardServices

/// Waits for what never comes, until the call is cancelled.
private func never<Value: Sendable>() async throws -> Value { try await OneShot<Value>().value() }

/// Channelz with three servers whose names are hostile, and new in each answer. It never says what their connections are.
final class SlowChannelz: Grpc_Channelz_V1_ChannelzProvider {
  /// Whether it never answers at all.
  /// Set when it has been asked for what it never says.
  let reached = OneShot<Void>()
  private let isSilent: Bool
  private let answered = Locked(0)

  init(isSilent: Bool = false) { self.isSilent = isSilent }

  var interceptors: Interceptors? { nil }

  func getServers(request: Grpc_Channelz_V1_GetServersRequest, context: ServerCallContext) async throws
    -> Grpc_Channelz_V1_GetServersResponse
  {
    if isSilent {
      reached.settle(.success(()))
      return try await never()
    }
    let number = answered.withLock { answered in
      answered += 1
      return answered
    }
    let name = "\u{202E}\(number)\u{1B}[31m" + String(repeating: "long", count: 10_000)
    return .with {
      $0.server = (1...3).map { id in
        .with { server in
          server.ref.serverID = Int64(id)
          server.ref.name = "\(id) \(name)"
          server.listenSocket = [.with { $0.name = name }]
        }
      }
      $0.end = true
    }
  }

  func getTopChannels(request: Grpc_Channelz_V1_GetTopChannelsRequest, context: ServerCallContext)
    async throws
    -> Grpc_Channelz_V1_GetTopChannelsResponse
  {
    .with { $0.end = true }
  }

  func getServerSockets(request: Grpc_Channelz_V1_GetServerSocketsRequest, context: ServerCallContext)
    async throws -> Grpc_Channelz_V1_GetServerSocketsResponse
  {
    reached.settle(.success(()))
    return try await never()
  }

  func getServer(request: Grpc_Channelz_V1_GetServerRequest, context: ServerCallContext) async throws
    -> Grpc_Channelz_V1_GetServerResponse
  {
    try await never()
  }

  func getChannel(request: Grpc_Channelz_V1_GetChannelRequest, context: ServerCallContext) async throws
    -> Grpc_Channelz_V1_GetChannelResponse
  {
    try await never()
  }

  func getSubchannel(request: Grpc_Channelz_V1_GetSubchannelRequest, context: ServerCallContext) async throws
    -> Grpc_Channelz_V1_GetSubchannelResponse
  {
    try await never()
  }

  func getSocket(request: Grpc_Channelz_V1_GetSocketRequest, context: ServerCallContext) async throws
    -> Grpc_Channelz_V1_GetSocketResponse
  {
    try await never()
  }
}

/// Health checks that answer only for the server as a whole.
struct SlowHealth: Grpc_Health_V1_HealthProvider {
  /// Set when it has been asked for what it never says.
  let reached = OneShot<Void>()

  var interceptors: Interceptors? { nil }

  func check(request: Grpc_Health_V1_HealthCheckRequest, context: ServerCallContext) async throws
    -> Grpc_Health_V1_HealthCheckResponse
  {
    if request.service.isEmpty { return .with { $0.status = .serving } }
    reached.settle(.success(()))
    return try await never()
  }

  func list(request: Grpc_Health_V1_HealthListRequest, context: ServerCallContext) async throws
    -> Grpc_Health_V1_HealthListResponse
  {
    try await never()
  }

  func watch(
    request: Grpc_Health_V1_HealthCheckRequest,
    responseStream: ResponseStreamWriter<Grpc_Health_V1_HealthCheckResponse>,
    context: ServerCallContext
  ) async throws {
    let _: Void = try await never()
  }
}

/// Reflection of many services, each in a file of its own; of none at all, it never answers.
final class ManyServices: Grpc_Reflection_V1_ServerReflectionProvider {
  /// Set when it has been asked for what it never says.
  let reached = OneShot<Void>()
  private let count: Int
  private let streams = Locked(0)
  private let asked = Locked(0)

  init(count: Int) { self.count = count }

  var streamCount: Int { streams.withLock { $0 } }
  var askedCount: Int { asked.withLock { $0 } }

  var interceptors: Interceptors? { nil }

  func serverReflectionInfo(
    requestStream: RequestStream<Grpc_Reflection_V1_ServerReflectionRequest>,
    responseStream: ResponseStreamWriter<Grpc_Reflection_V1_ServerReflectionResponse>,
    context: ServerCallContext
  ) async throws {
    streams.withLock { $0 += 1 }
    if count == 0 {
      reached.settle(.success(()))
      return try await never()
    }
    for try await request in requestStream {
      var response = Grpc_Reflection_V1_ServerReflectionResponse()
      if case .listServices? = request.messageRequest {
        response.listServicesResponse.service = (0..<count).map { number in
          .with { $0.name = "many.S\(number)" }
        }
      } else {
        asked.withLock { $0 += 1 }
        let name = request.fileContainingSymbol
        let file = Google_Protobuf_FileDescriptorProto.with {
          $0.name = "\(name).proto"
          $0.package = "many"
          $0.service = [.with { $0.name = String(name.dropFirst(5)) }]
        }
        response.fileDescriptorResponse.fileDescriptorProto = [try file.serializedBytes()]
      }
      try await responseStream.send(response)
    }
  }
}

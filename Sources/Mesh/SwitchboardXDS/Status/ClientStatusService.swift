public import SwitchboardCall
import SwitchboardText
import XDSMessages

/// Shows tools what the channels of the process have got from control planes:
/// `envoy.service.status.v3.ClientStatusDiscoveryService`, known as CSDS (gRFC A40). `switchboard xds` draws it.
///
/// ```swift
/// let server = try Server(providers: [Greeter(), ClientStatusService()])
/// ```
/// It shows each resource as it came, whether it is used, and why not. That reveals how a mesh is made, so a server on a public
/// network should not have it.
public struct ClientStatusService: CallHandlerProvider {
  private let provider: Provider

  /// A service that shows all clients of control planes in the process.
  public init() { self.init(.ofProcess) }

  init(_ pool: XDSClientPool) { provider = Provider(pool: pool) }

  public var serviceName: String { provider.serviceName }
  public var methodHandlers: [MethodHandler] { provider.methodHandlers }
  public var reflectionData: [String] { provider.reflectionData }
}

/// The service, whose messages are no part of the public API.
private struct Provider: Envoy_Service_Status_V3_ClientStatusDiscoveryServiceProvider {
  var interceptors: Interceptors? { nil }

  let pool: XDSClientPool

  func fetchClientStatus(
    request: Envoy_Service_Status_V3_ClientStatusRequest,
    context: ServerCallContext
  ) async throws -> Envoy_Service_Status_V3_ClientStatusResponse {
    try answer(request)
  }

  func streamClientStatus(
    requestStream: RequestStream<Envoy_Service_Status_V3_ClientStatusRequest>,
    responseStream: ResponseStreamWriter<Envoy_Service_Status_V3_ClientStatusResponse>,
    context: ServerCallContext
  ) async throws {
    // Tools may leave a stream open for as long as they run.
    try await context.untilShutdown {
      for try await request in requestStream { try await responseStream.send(try answer(request)) }
    }
  }

  private func answer(
    _ request: Envoy_Service_Status_V3_ClientStatusRequest
  ) throws(GRPCStatus) -> Envoy_Service_Status_V3_ClientStatusResponse {
    guard request.nodeMatchers.isEmpty else {
      throw GRPCStatus(code: .invalidArgument, message: "node_matchers are not supported: this is one client")
    }
    let hasContents = !request.excludeResourceContents
    return .with { response in
      response.config = pool.clients.map { target, client in
        .with {
          $0.node = client.bootstrap.node.message
          $0.clientScope = target
          $0.genericXdsConfigs = client.records.map { $1.message($0, hasContents: hasContents) }
        }
      }
    }
  }
}

extension ResourceRecord {
  fileprivate func message(
    _ key: ResourceKey,
    hasContents: Bool
  ) -> Envoy_Service_Status_V3_ClientConfig.GenericXdsConfig {
    .with { message in
      message.typeURL = key.type.typeURL
      message.name = key.name.text
      message.clientStatus = status.message
      if let used {
        message.versionInfo = used.name
        message.lastUpdated = used.time
        if hasContents { message.xdsConfig = used.contents }
      }
      guard let failure else { return }
      message.errorState = .with {
        $0.details = failure.reason
        $0.versionInfo = failure.version
        $0.lastUpdateAttempt = failure.time
        if hasContents, let contents = failure.contents { $0.failedConfiguration = contents }
      }
    }
  }
}

extension ResourceRecord.Status {
  fileprivate var message: Envoy_Admin_V3_ClientResourceStatus {
    switch self {
    case .requested: .requested
    case .missing: .doesNotExist
    case .accepted: .acked
    case .refused: .nacked
    case .withheld: .receivedError
    case .late: .timeout
    }
  }
}

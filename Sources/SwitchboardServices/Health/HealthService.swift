import Switchboard
import SwitchboardServiceMessages

/// Tells clients, load balancers and orchestrators how a server and its services are: `grpc.health.v1.Health`.
///
/// Register it beside the other providers, and say how things are when they change:
/// ```swift
/// let health = HealthService()
/// let server = try Server(providers: [ShopProvider(), health])
/// health.set(.serving, for: "shop.Shop")
/// ```
/// The server as a whole, whose name is empty, is serving from the beginning. When the server shuts down, everything
/// becomes not serving, and those who watch are told before their calls end.
public final class HealthService: Grpc_Health_V1_HealthProvider {
  /// How a service is.
  @frozen
  public enum Status: Sendable, Hashable {
    /// Nothing is known of it yet.
    case unknown
    /// It takes calls.
    case serving
    /// It does not.
    case notServing
  }

  private let board = Locked(StatusBoard())

  /// The server as a whole is serving; no service is known.
  public init() {}

  /// Says how a service is. The empty name is that of the server as a whole.
  ///
  /// Once the server is shutting down, this changes nothing any more.
  public func set(_ status: Status, for service: String = "") {
    board.withLock { $0.set(status, for: service) }
  }

  /// Forgets a service.
  public func remove(_ service: String) {
    board.withLock { $0.set(nil, for: service) }
  }

  /// How a service is; `nil` where it is not known.
  public func status(of service: String = "") -> Status? {
    board.withLock { $0.statuses[service] }
  }

  public func serverIsShuttingDown() {
    board.withLock { $0.shutDown() }
  }

  var watcherCount: Int { board.withLock(\.watcherCount) }

  // MARK: - Calls

  public func check(
    request: Grpc_Health_V1_HealthCheckRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Health_V1_HealthCheckResponse {
    guard let status = status(of: request.service) else {
      throw Self.unknown(request.service)
    }
    return Grpc_Health_V1_HealthCheckResponse(status)
  }

  /// A name longer than any service has is not sent back: what a client says must not decide how long an answer is.
  private static let longestName = 256

  private static func unknown(_ service: String) -> GRPCStatus {
    let isName = service.utf8.count <= longestName
    let message = isName ? "no service named \"\(service)\" is known" : "no service of that name is known"
    return GRPCStatus(code: .notFound, message: message)
  }

  public func list(
    request: Grpc_Health_V1_HealthListRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Health_V1_HealthListResponse {
    let statuses = board.withLock(\.statuses)
    return .with { $0.statuses = statuses.mapValues(Grpc_Health_V1_HealthCheckResponse.init) }
  }

  public func watch(
    request: Grpc_Health_V1_HealthCheckRequest,
    responseStream: ResponseStreamWriter<Grpc_Health_V1_HealthCheckResponse>,
    context: ServerCallContext
  ) async throws {
    // A watcher that reads slowly learns of the latest change alone.
    let (changes, continuation) = AsyncStream.makeStream(
      of: Status?.self,
      bufferingPolicy: .bufferingNewest(1)
    )
    let id = board.withLock { $0.addWatcher(of: request.service, continuation) }
    defer { board.withLock { $0.removeWatcher(id, of: request.service) } }
    for await status in changes {
      try await responseStream.send(Grpc_Health_V1_HealthCheckResponse(status))
    }
    guard !context.isCancelled else { return }
    throw GRPCStatus(code: .unavailable, message: "the server is shutting down")
  }
}

extension Grpc_Health_V1_HealthCheckResponse {
  fileprivate init(_ status: HealthService.Status?) {
    self.init()
    switch status {
    case .unknown: self.status = .unknown
    case .serving: self.status = .serving
    case .notServing: self.status = .notServing
    case nil: self.status = .serviceUnknown
    }
  }
}

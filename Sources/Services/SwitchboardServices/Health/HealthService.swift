import Switchboard
import SwitchboardServiceMessages
import SwitchboardText

/// Reports the health of a server and its services to clients, load balancers and orchestrators:
/// `grpc.health.v1.Health`.
///
/// Register it along with the other providers, and set a status when it changes:
/// ```swift
/// let health = HealthService()
/// let server = try Server(providers: [ShopProvider(), health])
/// health.set(.serving, for: "shop.Shop")
/// ```
/// A name that is set, and that no service of its server has, is logged once with the names that there are: clients would ask
/// for the right one and be told that it is unknown. Names without a dot that resemble none of them, such as `liveness`, are
/// taken for those of probes. If no server has had the service when it is released, a warning is logged.
///
/// The server as a whole, whose name is empty, is serving from the start. When the server shuts down, everything
/// becomes not serving, and watchers receive that change before their calls end. Make one for each server: if several had the
/// same, none of them would be serving once one shuts down, which is logged.
public final class HealthService: Grpc_Health_V1_HealthProvider {
  public var interceptors: Interceptors? { nil }

  /// The health of a service.
  @frozen
  public enum Status: Sendable, Hashable {
    /// The status is not known yet.
    case unknown
    /// It accepts calls.
    case serving
    /// It does not accept calls.
    case notServing
  }

  private let board = Locked(StatusBoard())
  private let served = Locked(ServedNames())
  /// For a service that no server has.
  private let logger: Logger

  /// Creates a service in which the server as a whole is serving and no other service is known.
  public init() { logger = .standardError }

  init(_ logger: Logger) { self.logger = logger }

  deinit {
    guard board.withLock(\.wasSet), !served.withLock(\.hasServer) else { return }
    logger.log(
      .warning,
      "the health of services was set, and no server has the HealthService: add it to the server's providers"
    )
  }

  /// Sets the status of a service. The empty name stands for the server as a whole.
  ///
  /// Has no effect once the server is shutting down.
  public func set(_ status: Status, for service: String = "") {
    board.withLock { $0.set(status, for: service) }
    served.withLock { $0.remark(on: [service]) }?.log()
  }

  @available(*, unavailable, renamed: "set(_:for:)")
  public func setStatus(_ status: Status, for service: String = "") { set(status, for: service) }

  /// Removes a service.
  public func remove(_ service: String) {
    board.withLock { $0.set(nil, for: service) }
  }

  /// The status of a service; `nil` if the service is not known.
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

  /// A longer name is not repeated in the response, so that clients cannot control its size.
  private static let longestName = 256

  private static func unknown(_ service: String) -> GRPCStatus {
    let isName = service.utf8.count <= longestName
    let message = isName ? "unknown service \"\(service)\"" : "unknown service"
    return GRPCStatus(code: .notFound, message: message)
  }

  public func list(
    request: Grpc_Health_V1_HealthListRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Health_V1_HealthListResponse {
    let statuses = board.withLock(\.statuses)
    return .with { response in
      for (name, status) in statuses {
        response.statuses[name.text] = Grpc_Health_V1_HealthCheckResponse(status)
      }
    }
  }

  public func watch(
    request: Grpc_Health_V1_HealthCheckRequest,
    responseStream: ResponseStreamWriter<Grpc_Health_V1_HealthCheckResponse>,
    context: ServerCallContext
  ) async throws {
    // A watcher that reads slowly receives only the latest status.
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

extension HealthService: ServiceObserver {
  package func serverWasMade(of services: [String], isInProcess: Bool, _ logger: Logger) {
    let known = board.withLock { $0.statuses.keys.map(\.text) }
    if !isInProcess, served.withLock({ $0.mayShutDown() }) {
      logger.log(
        .warning,
        "servers share a HealthService: once one of them shuts down, the others are not serving either; make one for each",
        [:]
      )
    }
    served.withLock { served in
      served.add(services, logger)
      return served.remark(on: known.sorted())
    }?.log()
  }
}

import ConsoleMessages
import Switchboard
import SwitchboardCall
import SwitchboardServices

/// Asks a server of another process whether its services are serving, when somebody looks.
actor RemoteHealth {
  private let remote: RemoteServer
  private let time: any CallTime
  /// The services to ask for.
  private let services: @Sendable () async -> [String]
  private var known: (made: ContinuousClock.Instant, health: [Switchboard_Console_V1_Health])?

  static let freshness = Duration.seconds(5)
  private static let mostServices = 20
  private static let timeout = Duration.seconds(2)

  init(_ remote: RemoteServer, _ time: any CallTime, services: @escaping @Sendable () async -> [String]) {
    self.remote = remote
    self.time = time
    self.services = services
  }

  /// Empty if the server has no health checks.
  func statuses() async -> [Switchboard_Console_V1_Health] {
    if let known, known.made.duration(to: time.now) < Self.freshness { return known.health }
    var found: [Switchboard_Console_V1_Health] = []
    if let whole = await status(of: "") {
      found.append(.with { $0.status = whole })
      for service in await services().prefix(Self.mostServices) {
        guard let status = await status(of: service) else { break }
        found.append(.with { ($0.service, $0.status) = (service, status) })
      }
    }
    known = (time.now, found)
    return found
  }

  /// `nil` if the server has no health checks.
  private func status(of service: String) async -> String? {
    var options = CallOptions()
    options.initialMetadata = remote.peer.metadata
    options.timeout = Self.timeout
    let client = Grpc_Health_V1_HealthClient(channel: remote.channel, defaultCallOptions: options)
    do {
      return switch try await client.check(.with { $0.service = service }).status {
      case .unknown: "UNKNOWN"
      case .serving: "SERVING"
      case .notServing: "NOT_SERVING"
      case .serviceUnknown: "SERVICE_UNKNOWN"
      case .UNRECOGNIZED(let number): "\(number)"
      }
    } catch let status as GRPCStatus {
      if remote.peer.lacksMethod(status) { return nil }
      return status.code == .notFound ? "not known to its health checks" : status.code.specName
    } catch {
      return nil
    }
  }
}

import ConsoleMessages
import Switchboard
import SwitchboardCall
import SwitchboardServices
import SwitchboardText

/// Asks a server of another process whether its services are serving, when somebody looks.
actor RemoteHealth {
  private let remote: RemoteServer
  private let clock: ConsoleClock
  /// The services to ask for.
  private let services: @Sendable () async -> [String]
  private var known: (made: ContinuousClock.Instant, health: [Switchboard_Console_V1_Health])?

  static let freshness = Duration.seconds(5)
  private static let mostServices = 20

  init(_ remote: RemoteServer, _ clock: ConsoleClock, services: @escaping @Sendable () async -> [String]) {
    self.remote = remote
    self.clock = clock
    self.services = services
  }

  /// Empty if the server has no health checks. What it does not answer in time says so.
  func statuses() async -> [Switchboard_Console_V1_Health] {
    if let known, known.made.duration(to: clock.time.now) < Self.freshness { return known.health }
    let found = await clock.stopping(after: RemoteServer.patience) { await self.ask() }
    known = (clock.time.now, found)
    return found
  }

  private func ask() async -> [Switchboard_Console_V1_Health] {
    guard let whole = await status(of: "") else { return [] }
    var found: [Switchboard_Console_V1_Health] = [.with { $0.status = whole }]
    guard !Task.isCancelled else { return found }
    for service in await services().prefix(Self.mostServices) {
      guard let status = await status(of: service) else { break }
      found.append(.with { ($0.service, $0.status) = (service.excerpt, status) })
      if Task.isCancelled { break }
    }
    return found
  }

  /// `nil` if the server has no health checks.
  private func status(of service: String) async -> String? {
    var options = CallOptions()
    options.initialMetadata = remote.peer.metadata
    options.timeout = RemoteServer.patience
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
      if Task.isCancelled || status.code == .deadlineExceeded { return "no answer in time" }
      if remote.peer.lacksMethod(status) { return nil }
      return status.code == .notFound ? "not known to its health checks" : status.code.specName
    } catch {
      return Task.isCancelled ? "no answer in time" : nil
    }
  }
}

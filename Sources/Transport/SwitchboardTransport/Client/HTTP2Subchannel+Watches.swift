import SwitchboardBalancing
import SwitchboardCall

/// What a subchannel watches of its server.
enum WatchedService { case health, load }

/// The streams that watch the server's health and load.
extension HTTP2Subchannel {
  /// The service that must be healthy before calls are assigned here. `nil` if there are no health checks.
  var healthCheckedService: String? {
    options.checksHealth ? channel.balancer.serviceConfig?.healthCheckedService : nil
  }

  /// The service config has changed. It may name another service, or none.
  func healthCheckedServiceChanged() {
    guard let connection = servingConnection else { return }
    stopHealthWatch()
    if let service = healthCheckedService {
      watchHealth(of: service, on: connection)
    } else if state.connectivity != .ready {
      setState(.ready)
    }
  }

  func watchHealth(of service: String, on connection: ClientConnection) {
    let watch = ServerWatch(
      self,
      connection,
      HealthMessages.watch,
      HealthMessages.request(service),
      ServerWatch.Events(
        message: { [weak self] message in
          guard let self else { return }
          let status = HealthMessages.status(message) ?? "an invalid message"
          if status == HealthMessages.serving { return setState(.ready) }
          setState(.transientFailure, .unhealthy(shown, service, status))
        },
        broke: { [weak self] status in
          guard let self else { return }
          setState(.transientFailure, .unhealthy(shown, service, "\(status)"))
        },
        unknown: { [weak self] in
          guard let self else { return }
          report("\(shown) has no health service: it counts as healthy", lacks: .health)
          setState(.ready)
        }
      )
    )
    healthWatch = watch
    watch.start()
  }

  private func report(_ event: String, lacks service: WatchedService) {
    if reportedLacks.insert(service).inserted { channel.balancerReports(event, isWarning: true) }
  }

  func reportLoad(every interval: Duration?) {
    guard interval != options.loadReportInterval else { return }
    options.loadReportInterval = interval
    loadWatch?.stop()
    loadWatch = nil
    if let connection = servingConnection { watchLoad(on: connection) }
  }

  /// The size limit of a report. Longer ones would occupy the loop, which other channels share.
  private static let longestReport = 64 * 1024

  func watchLoad(on connection: ClientConnection) {
    guard loadWatch == nil, let interval = options.loadReportInterval else { return }
    let watch = ServerWatch(
      self,
      connection,
      LoadReportMessages.stream,
      LoadReportMessages.request(every: interval),
      ServerWatch.Events(
        message: { [weak self] message in
          guard let self, message.count <= Self.longestReport else { return }
          if let load = LoadReport(serializedBytes: message) { observer?.subchannel(self, reported: load) }
        },
        broke: { _ in },
        unknown: { [weak self] in
          guard let self else { return }
          report("\(shown) does not report its load on a stream", lacks: .load)
        }
      )
    )
    loadWatch = watch
    watch.start()
  }

  /// Moves the watches to another connection if theirs is closing.
  func moveWatches() {
    guard let connection = servingConnection else { return }
    watchLoad(on: connection)
    if healthWatch == nil, let service = healthCheckedService { watchHealth(of: service, on: connection) }
  }

  func stopHealthWatch() {
    healthWatch?.stop()
    healthWatch = nil
  }

  /// The streams would keep a connection open that should close.
  func stopWatches(of connection: ClientConnection?) {
    if connection == nil || healthWatch?.connection === connection { stopHealthWatch() }
    guard connection == nil || loadWatch?.connection === connection else { return }
    loadWatch?.stop()
    loadWatch = nil
  }
}

extension GRPCStatus {
  fileprivate static func unhealthy(_ server: String, _ service: String, _ status: String) -> GRPCStatus {
    let name = service.isEmpty ? "as a whole" : "for the service \(service)"
    return GRPCStatus(
      code: .unavailable,
      message: "\(server) is not healthy \(name): \(status)",
      origin: .peer
    )
  }
}

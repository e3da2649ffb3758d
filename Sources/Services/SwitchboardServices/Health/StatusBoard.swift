import SwitchboardText

/// The status of each service, and its watchers.
struct StatusBoard {
  typealias Status = HealthService.Status
  /// Receives each change; nil means that the service is not known.
  typealias Watcher = AsyncStream<Status?>.Continuation

  private(set) var statuses: [ExactText: Status] = [ExactText(""): .serving]
  private var watchers: [ExactText: [Int: Watcher]] = [:]
  private var nextID = 0
  private var isShutDown = false
  /// Whether a status was set or removed.
  private(set) var wasSet = false

  var watcherCount: Int { watchers.values.reduce(0) { $0 + $1.count } }

  mutating func set(_ status: Status?, for service: String) {
    wasSet = true
    guard !isShutDown, statuses[service] != status else { return }
    statuses[service] = status
    for watcher in (watchers[service] ?? [:]).values { watcher.yield(status) }
  }

  /// Adds a watcher of a service; it receives the current status first.
  mutating func addWatcher(of service: String, _ watcher: Watcher) -> Int {
    defer { nextID += 1 }
    watcher.yield(statuses[service])
    if isShutDown { watcher.finish() } else { watchers[ExactText(service), default: [:]][nextID] = watcher }
    return nextID
  }

  mutating func removeWatcher(_ id: Int, of service: String) {
    watchers[service]?[id] = nil
    if watchers[service]?.isEmpty == true { watchers[service] = nil }
  }

  /// Sets all services to not serving, permanently.
  mutating func shutDown() {
    for service in statuses.keys { set(.notServing, for: service.text) }
    isShutDown = true
    for watcher in watchers.values.flatMap(\.values) { watcher.finish() }
    watchers = [:]
  }
}

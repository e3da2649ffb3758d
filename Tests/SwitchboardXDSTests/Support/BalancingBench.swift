import SwitchboardBalancing
import SwitchboardCall

/// Time that a test advances.
final class BenchTime: BalancerTime, @unchecked Sendable {
  final class Timer: ScheduledAction {
    fileprivate var action: (() -> Void)?
    fileprivate let end: Duration

    init(_ end: Duration, _ action: @escaping () -> Void) { (self.end, self.action) = (end, action) }
    func cancel() { action = nil }
  }

  var now = Duration.seconds(1000)
  private var timers: [Timer] = []
  var pending: Int { timers.count { $0.action != nil } }

  func schedule(after delay: Duration, _ action: @escaping () -> Void) -> any ScheduledAction {
    timers.append(Timer(now + delay, action))
    return timers[timers.count - 1]
  }

  func advance(by duration: Duration) {
    now += duration
    for timer in timers where timer.end <= now {
      let action = timer.action
      timer.action = nil
      action?()
    }
  }
}

/// What policies are in, whose servers connect as a test says.
final class BenchHost: BalancerHost {
  let clock = BenchTime()
  private(set) var made: [BenchServer] = []
  var becomes = ConnectivityState.connecting
  let policies = PolicyRegistry()
  let metrics: MetricScope? = nil
  var time: any BalancerTime { clock }
  func random() -> UInt64 { 0 }
  func resolveAgain() {}
  func warn(_ text: String) {}
  func forgetServers() { made = [] }
  func update(_ state: ConnectivityState, _ picker: any Picker) {}
  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    let server = BenchServer(addresses, observer)
    server.labels = options.metricLabels
    server.becomes = becomes
    made.append(server)
    return server
  }
}

/// A server without a connection.
final class BenchServer: Subchannel {
  let addresses: [EndpointAddress]
  /// Of its calls in metrics.
  var labels: [String: String] = [:]
  private(set) var observer: (any SubchannelObserver)?
  var state = SubchannelState(.idle)
  var becomes = ConnectivityState.connecting

  init(_ addresses: [EndpointAddress], _ observer: any SubchannelObserver) {
    (self.addresses, self.observer) = (addresses, observer)
  }

  func connect() { set(becomes) }
  func update(_ addresses: [EndpointAddress]) {}
  func reportLoad(every interval: Duration?) {}
  func shutDown() { (state, observer) = (SubchannelState(.shutdown), nil) }

  func set(_ connectivity: ConnectivityState) {
    state = SubchannelState(connectivity)
    observer?.subchannelChanged(self, to: state)
  }
}

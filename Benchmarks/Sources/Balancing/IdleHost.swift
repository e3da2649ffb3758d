import Switchboard
import SwitchboardBalancing
import SwitchboardCall

/// A channel whose connections succeed at once, and whose time passes only between measurements.
final class IdleHost: BalancerHost, SubchannelObserver {
  let clock = IdleTime()
  let policies = PolicyRegistry()
  let metrics: MetricScope? = nil
  var subchannels: [IdleSubchannel] = []
  private(set) var picker: any Picker = ConstantPicker(.wait)
  private let connects: Bool
  private var seed: UInt64 = 1

  init(connects: Bool) { self.connects = connects }

  var time: any BalancerTime { clock }

  func random() -> UInt64 {
    seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return seed ^ seed >> 32
  }

  func resolveAgain() {}
  func warn(_ text: String) {}
  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {}

  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    let subchannel = IdleSubchannel(observer, connects: connects)
    subchannels.append(subchannel)
    return subchannel
  }

  func update(_ state: ConnectivityState, _ picker: any Picker) { self.picker = picker }
}

final class IdleSubchannel: Subchannel {
  private let observer: any SubchannelObserver
  private let connects: Bool
  private(set) var state = SubchannelState(.idle)
  private(set) var isShutDown = false

  init(_ observer: any SubchannelObserver, connects: Bool) {
    self.observer = observer
    self.connects = connects
  }

  func connect() { if connects { become(.ready) } }
  func update(_ addresses: [EndpointAddress]) {}
  func reportLoad(every interval: Duration?) {}
  func shutDown() { isShutDown = true }

  func become(_ connectivity: ConnectivityState) {
    guard state.connectivity != connectivity else { return }
    state = SubchannelState(connectivity)
    observer.subchannelChanged(self, to: state)
  }
}

/// Timers that run when they are asked to: those of up to a second.
final class IdleTime: BalancerTime, @unchecked Sendable {
  final class Timer: ScheduledAction {
    fileprivate var action: (() -> Void)?
    init(_ action: @escaping () -> Void) { self.action = action }
    func cancel() { action = nil }
  }

  private(set) var now = Duration.seconds(1000)
  private var timers: [Timer] = []

  func schedule(after delay: Duration, _ action: @escaping () -> Void) -> any ScheduledAction {
    let timer = Timer(action)
    if delay <= .seconds(1) { timers.append(timer) }
    return timer
  }

  func advance() {
    now += .seconds(1)
    let due = timers
    timers = []
    for timer in due { timer.action?() }
  }
}

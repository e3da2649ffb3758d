import SwitchboardBalancing
import SwitchboardCall

/// Time that a test makes pass, with its timers.
final class FakeTime: BalancerTime, @unchecked Sendable {
  final class Timer: ScheduledAction {
    let time: Duration
    let number: Int
    fileprivate(set) var action: (() -> Void)?

    init(_ time: Duration, _ number: Int, _ action: @escaping () -> Void) {
      self.time = time
      self.number = number
      self.action = action
    }

    func cancel() { action = nil }
  }

  private(set) var now = Duration.seconds(1000)
  private var timers: [Timer] = []
  private var count = 0

  /// The timers that have not run and are not cancelled.
  var pending: Int { timers.count { $0.action != nil } }

  func schedule(after delay: Duration, _ action: @escaping () -> Void) -> any ScheduledAction {
    count += 1
    let timer = Timer(now + delay, count, action)
    timers.append(timer)
    return timer
  }

  /// Forgets all timers.
  func end() { timers = [] }

  /// Runs what is due on the way, in order.
  func advance(by duration: Duration = .zero) {
    let end = now + duration
    while true {
      timers.removeAll { $0.action == nil }
      let due = timers.filter { $0.time <= end }.min { ($0.time, $0.number) < ($1.time, $1.number) }
      guard let due, let action = due.action else { break }
      due.action = nil
      now = max(now, due.time)
      action()
    }
    now = end
  }
}

/// A subchannel whose states a test sets.
final class FakeSubchannel: Subchannel {
  private(set) var addresses: [EndpointAddress]
  let options: SubchannelOptions
  private(set) var loadInterval: Duration?
  private(set) var state = SubchannelState(.idle)
  private(set) var connects = 0
  private(set) var isShutDown = false
  fileprivate var observer: (any SubchannelObserver)?
  /// What it becomes as soon as it is to connect.
  var connectsTo: [SubchannelState] = []
  /// Runs when it has been shut down, as calls that waited for it get another server then.
  var onShutDown: () -> Void = {}

  init(_ addresses: [EndpointAddress], _ options: SubchannelOptions, _ observer: any SubchannelObserver) {
    self.addresses = addresses
    self.options = options
    self.observer = observer
    loadInterval = options.loadReportInterval
  }

  func connect() {
    connects += 1
    guard state.connectivity == .idle else { return }
    for state in connectsTo { set(state.connectivity, state.failure) }
  }

  func update(_ addresses: [EndpointAddress]) { self.addresses = addresses }
  func reportLoad(every interval: Duration?) { loadInterval = interval }
  func shutDown() {
    isShutDown = true
    onShutDown()
  }

  func set(_ connectivity: ConnectivityState, _ failure: GRPCStatus? = nil) {
    state = SubchannelState(connectivity, failure: failure)
    observer?.subchannelChanged(self, to: state)
  }

  func fail(_ message: String = "refused") {
    set(.transientFailure, GRPCStatus(code: .unavailable, message: message))
  }

  func report(_ load: LoadReport) { observer?.subchannel(self, reported: load) }
}

/// A channel without anything below it.
final class FakeHost: BalancerHost {
  let clock = FakeTime()
  var policies = PolicyRegistry()
  var numbers = QuickRandom(seed: 1)
  private(set) var subchannels: [FakeSubchannel] = []
  private(set) var state: ConnectivityState?
  private(set) var picker: any Picker = ConstantPicker(.wait)
  private(set) var states: [ConnectivityState] = []
  private(set) var resolutions = 0
  private(set) var warnings: [String] = []
  var metrics: MetricScope?
  /// What new subchannels become as soon as they are to connect.
  var connectsTo: [SubchannelState] = []
  /// Whether calls that wait try again as soon as there is another picker, as on a channel.
  var hasWaitingCall = false
  /// Runs when a policy asks for the name to be resolved again.
  var onResolveAgain: () -> Void = {}
  private var isPicking = false

  var time: any BalancerTime { clock }
  func random() -> UInt64 { numbers.next() }
  func warn(_ text: String) { warnings.append(text) }

  func resolveAgain() {
    resolutions += 1
    onResolveAgain()
  }

  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    let subchannel = FakeSubchannel(addresses, options, observer)
    subchannel.connectsTo = connectsTo
    subchannels.append(subchannel)
    return subchannel
  }

  func update(_ state: ConnectivityState, _ picker: any Picker) {
    if states.last != state { states.append(state) }
    self.state = state
    self.picker = picker
    guard hasWaitingCall, !isPicking else { return }
    isPicking = true
    picker.pick(FakeCall([("key", "waiting")])).tracker?.callEnded(CallOutcome(status: .ok))
    isPicking = false
  }

  /// Lets go of what refers to this host, so that nothing leaks when a test ends.
  func end() {
    picker = ConstantPicker(.wait)
    onResolveAgain = {}
    clock.end()
    for subchannel in subchannels {
      subchannel.observer = nil
      subchannel.onShutDown = {}
    }
    subchannels = []
  }

  /// Those that are not shut down.
  var open: [FakeSubchannel] { subchannels.filter { !$0.isShutDown } }

  /// The one that is open for the endpoint with this number.
  subscript(_ number: Int) -> FakeSubchannel {
    get throws {
      guard let found = open.first(where: { $0.addresses.contains(.number(number)) }) else {
        throw Missing(text: "no subchannel for \(number)")
      }
      return found
    }
  }

  func allReady() {
    for subchannel in open where subchannel.state.connectivity != .ready { subchannel.set(.ready) }
  }

  /// Makes every connection succeed at once.
  func connectsAtOnce() { connectsTo = [SubchannelState(.connecting), SubchannelState(.ready)] }
}

struct Missing: Error {
  let text: String
}

/// A call with metadata, to be picked for.
final class FakeCall: CallToPick {
  let method = MethodDescriptor(service: "echo.Echo", method: "Get", type: .unary)
  var metadata: HPACKHeaders
  var route: CallRoute?

  init(_ metadata: HPACKHeaders = HPACKHeaders()) { self.metadata = metadata }
}

extension EndpointAddress {
  /// 10.0.0.0 and so on.
  static func number(_ number: Int) -> EndpointAddress {
    .ipv4(0x0A00_0000 + UInt32(number), port: 80)
  }

  var number: Int? { if case .ipv4(let bits, _) = self { Int(bits) - 0x0A00_0000 } else { nil } }
}

extension Endpoint {
  static func number(_ number: Int, path: [String]? = nil, weight: UInt32? = nil) -> Endpoint {
    var endpoint = Endpoint([.number(number)])
    endpoint.attributes[EndpointPath.self] = path
    endpoint.attributes[EndpointWeight.self] = weight
    return endpoint
  }
}

extension [Endpoint] {
  static func numbers(_ range: Range<Int>) -> [Endpoint] { range.map { .number($0) } }
}

extension Pick {
  /// The first address of the subchannel that was picked.
  var number: Int? {
    guard case .subchannel(let subchannel as FakeSubchannel, _) = self else { return nil }
    return subchannel.addresses.first?.number
  }

  var isWait: Bool { if case .wait = self { true } else { false } }

  var failure: GRPCStatus? {
    switch self {
    case .fail(let status), .drop(let status): status
    case .subchannel, .wait: nil
    }
  }

  var tracker: (any LoadTracker)? { if case .subchannel(_, let tracker) = self { tracker } else { nil } }
}

/// A policy on a fake channel, by its name and configuration.
final class Bench {
  let host = FakeHost()
  private(set) var child: ChildBalancer

  init(seed: UInt64 = 1) {
    host.numbers = QuickRandom(seed: seed)
    child = ChildBalancer(host)
  }

  deinit {
    host.end()
    child.shutDown()
  }

  func update(
    _ policy: String,
    _ members: [String: ConfigValue] = [:],
    _ endpoints: [Endpoint]
  ) throws {
    try child.update(endpoints, try choice(policy, members))
  }

  func choice(_ policy: String, _ members: [String: ConfigValue] = [:]) throws -> PolicyChoice {
    try host.policies.choose([LoadBalancingConfig(policy, members)], at: "loadBalancingConfig")
  }

  func pick(_ call: FakeCall = FakeCall()) -> Pick { host.picker.pick(call) }

  /// How often each endpoint is picked. Each call ends as `end` says, at once.
  func counts(
    _ picks: Int,
    _ call: FakeCall = FakeCall(),
    end: (Int) -> CallOutcome = { _ in CallOutcome(status: .ok) }
  ) -> [Int: Int] {
    var counts: [Int: Int] = [:]
    for _ in 0..<picks {
      let pick = host.picker.pick(call)
      guard let number = pick.number else { continue }
      counts[number, default: 0] += 1
      pick.tracker?.callEnded(end(number))
    }
    return counts
  }
}

extension ConfigValue {
  /// A list of policies with one that has these members.
  static func policies(_ name: String, _ members: [String: ConfigValue] = [:]) -> ConfigValue {
    .array([.object([name: .object(members)])])
  }
}

/// The share of each that was picked.
func shares(_ counts: [Int: Int]) -> [Int: Double] {
  let sum = Double(counts.values.reduce(0, +))
  return counts.mapValues { Double($0) / sum }
}

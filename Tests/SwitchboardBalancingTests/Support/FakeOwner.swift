import SwitchboardBalancing
import SwitchboardCall

/// A loop that runs what it is given when a test says so.
final class FakeLoop: EventLoop, @unchecked Sendable {
  private var work: [@Sendable () -> Void] = []

  var inEventLoop: Bool { true }
  func execute(_ work: @escaping @Sendable () -> Void) { self.work.append(work) }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    work.append { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func run() {
    while !work.isEmpty { work.removeFirst()() }
  }
}

/// A transport without sockets.
final class FakeOwner: ChannelBalancerOwner {
  let loop = FakeLoop()
  let host = FakeHost()
  private(set) var changes = 0
  private(set) var configs = 0
  /// How many subchannels there were when the router changed.
  private(set) var routers: [Int] = []
  private(set) var failures: [GRPCStatus] = []
  private(set) var awaited: [String] = []
  private(set) var events: [String] = []
  private(set) var warnings: [String] = []

  deinit { host.end() }

  var eventLoop: any EventLoop { loop }
  var time: any BalancerTime { host.clock }

  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel { host.makeSubchannel(addresses, options, observer) }

  func balancerChanged() { changes += 1 }
  func serviceConfigChanged() { configs += 1 }
  func routerChanged() { routers.append(host.open.count) }
  func resolvingFailed(_ status: GRPCStatus) { failures.append(status) }
  func resolvingAwaits(_ what: String) { awaited.append(what) }
  func balancerReports(_ event: String, isWarning: Bool) {
    if isWarning { warnings.append(event) } else { events.append(event) }
  }
}

/// A resolver that reports what a test says.
final class FakeResolver: Resolver, @unchecked Sendable {
  final class Started: Resolution {
    let updates: ResolverUpdates
    private(set) var requests = 0
    private(set) var isStopped = false

    init(_ updates: ResolverUpdates) { self.updates = updates }
    func resolveAgain() { requests += 1 }
    func stop() { isStopped = true }
  }

  let schemes = ["fake"]
  private(set) var starts: [Started] = []

  func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    let started = Started(updates)
    starts.append(started)
    return started
  }
}

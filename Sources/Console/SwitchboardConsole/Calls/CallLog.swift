import SwitchboardCall
import SwitchboardTelemetry

/// Keeps single calls of the last 15 minutes, in memory that is bounded. All consoles of a telemetry share it.
final class CallLog: CallKeeper {
  fileprivate struct State: Sendable {
    var methods: [ObjectIdentifier: MethodCalls] = [:]
    var shown = ShownCalls()
    /// About how many bytes the calls take.
    var cost = 0
    var period = 0
    var periodEnd: ContinuousClock.Instant
    /// Since when somebody has looked, and until when calls get timelines.
    var looking: (since: ContinuousClock.Instant, until: ContinuousClock.Instant)?
  }

  private let telemetry: Telemetry
  private let time: any CallTime
  /// The metadata of which values are kept: what any of the consoles shows.
  private let shown: Locked<ShownMetadata>
  /// How many methods have calls here, on each side.
  private let maxMethods: Int
  private let state: Locked<State>

  /// How long a call is kept, and of which parts of this time the slowest calls are.
  static let age = Duration.seconds(900)
  static let period = Duration.seconds(180)
  /// About how many bytes all calls may take.
  static let mostBytes = 8 << 20
  /// How long calls get timelines after somebody has looked.
  static let attention = Duration.seconds(30)

  private init(_ telemetry: Telemetry, _ shown: ShownMetadata, maxMethods: Int, _ time: any CallTime) {
    self.telemetry = telemetry
    self.time = time
    self.shown = Locked(shown)
    self.maxMethods = maxMethods
    state = Locked(State(periodEnd: time.now + Self.period))
  }

  deinit { telemetry.timeCalls(false) }

  /// The log of a telemetry. `nil` if that counts no calls.
  static func of(_ telemetry: Telemetry, _ shown: ShownMetadata, maxMethods: Int, _ time: any CallTime)
    -> CallLog?
  {
    guard telemetry.countsCalls else { return nil }
    if let known = telemetry.callKeeper as? CallLog {
      known.shown.withLock { $0.add(shown) }
      return known
    }
    let log = CallLog(telemetry, shown, maxMethods: maxMethods, time)
    telemetry.keepCalls(with: log)
    return log
  }

  // MARK: Calls

  func keep(_ call: EndedCall) {
    let kept = KeptCall(call, at: time.now, shown.withLock { $0 })
    let key = ObjectIdentifier(call.called)
    let isKept = state.withLock { state in
      if state.methods[key] == nil {
        let isServer = call.called.isServer
        let known = state.methods.values.count { $0.called.isServer == isServer }
        guard known < maxMethods else { return false }
        state.methods[key] = MethodCalls(call.called)
      }
      let before = state.methods[key]?.cost ?? 0
      state.methods[key]?.add(kept, in: state.period)
      state.cost += (state.methods[key]?.cost ?? 0) - before
      if state.cost > Self.mostBytes { state.makeRoom() }
      return true
    }
    if !isKept { call.called.slowness = .max }
  }

  /// Looks at the time, as happens every few seconds.
  func look() {
    let now = time.now
    let isOver = state.withLock { state in
      if state.periodEnd <= now {
        state.period += 1
        state.periodEnd = now + Self.period
        for method in state.methods.values { method.beginPeriod() }
      }
      for key in state.methods.keys { state.methods[key]?.forget(before: now - Self.age) }
      state.methods = state.methods.filter { !$0.value.isEmpty }
      state.cost = state.methods.values.reduce(0) { $0 + $1.cost }
      state.shown.forget(at: now)
      guard let looking = state.looking, looking.until <= now else { return false }
      state.looking = nil
      return true
    }
    if isOver { telemetry.timeCalls(false) }
  }

  // MARK: Viewers

  /// Somebody looks at calls, so that some of those that begin get timelines for a while. Returns for how long that has been so.
  func somebodyLooks() -> Duration {
    let now = time.now
    telemetry.timeCalls(true)
    return state.withLock { state in
      let since = state.looking?.since ?? now
      state.looking = (since, now + Self.attention)
      return since.duration(to: now)
    }
  }

  /// The calls of one kind that one side has had.
  func calls(_ kind: ViewQuery.CallKind, ofServers isServer: Bool) -> [KeptCall] {
    methods(isServer).flatMap { $0.calls(kind) }
  }

  /// The call with this ID, which is kept or was shown lately.
  func call(_ id: [UInt8], ofServers isServer: Bool) -> KeptCall? {
    methods(isServer).lazy.flatMap(\.all).first { $0.id.utf8.elementsEqual(id) }
      ?? state.withLock { $0.shown.call(id, ofServers: isServer) }
  }

  /// A viewer is shown these calls, and may ask for one of them.
  func show(_ calls: [KeptCall]) {
    let now = time.now
    state.withLock { $0.shown.add(calls, at: now) }
  }

  private func methods(_ isServer: Bool) -> [MethodCalls] {
    state.withLock { $0.methods.values.filter { $0.called.isServer == isServer } }
  }

  /// About how many bytes its calls take.
  var cost: Int { state.withLock(\.cost) }
}

extension CallLog.State {
  /// Forgets the oldest calls: an eighth of all, so that this is rare.
  fileprivate mutating func makeRoom() {
    let ends = methods.values.flatMap { $0.all.map(\.end) }.sorted()
    guard let start = ends.dropFirst(ends.count / 8).first else { return }
    for key in methods.keys { methods[key]?.forget(before: start) }
    // Otherwise all have ended at the same moment.
    if ends.first == start { methods = [:] }
    cost = methods.values.reduce(0) { $0 + $1.cost }
  }
}

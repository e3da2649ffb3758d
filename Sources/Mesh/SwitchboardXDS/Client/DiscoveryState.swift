import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText

/// What becomes of a resource that somebody watches.
enum ResourceUpdate: Sendable {
  /// It is there, or it cannot be had; then what was known of it before counts no more.
  case resource(Result<Resource, GRPCStatus>)
  /// What is known still counts, although this has happened since; `nil`: not any more.
  case ambient(GRPCStatus?)
}

/// A request of the client to a control plane.
struct DiscoveryRequest: Hashable, Sendable {
  var type: ResourceType
  /// Sorted by their bytes.
  var names: [String]
  /// The version in use; empty if there is none.
  var version: String
  /// The response that is answered; empty for the first request about the type.
  var nonce: String
  /// Why the response is refused.
  var refusal: String?
  /// Whether it is the first one of its stream, which says who asks.
  var isFirst = false
}

/// The client's side of the protocol between a client and one control plane, state of the world, as a value: it gets what happens,
/// and returns what to do. Requests are due until `nextRequest` is asked for them, so that many changes make one.
///
/// ```
///   of a stream:    none ──opened──> opened ──connected──> connected ──ended──> none
///
///   of a resource:  asked ──a valid one──> known <──a valid one── failed
///                     │                      │                      ^
///                     └──refused, too late───┴──deleted, refused────┘   (a known one: only if faults of data count)
/// ```
struct DiscoveryState: Sendable {
  /// What the caller has to do, in this order.
  enum Action: Sendable {
    case tell([WatchID], ResourceUpdate)
    /// Calls `timeIsUp` after a while, unless it is cancelled first.
    case startTimer(ResourceKey, TimerID, Duration)
    case cancelTimer(TimerID)
    case log(LogLevel, String)
  }

  typealias WatchID = Int
  typealias TimerID = Int

  private struct Entry {
    var watches: [WatchID] = []
    var resource: Resource?
    /// The latest failure, unless the resource was valid since.
    var failure: GRPCStatus?
    /// Whether it was the stream that failed.
    var isCutOff = false
    var timer: TimerID?
    /// Whether the latest response that has all resources lacked this one.
    var isDeleted = false
    /// For those who look on.
    var record = ResourceRecord()

    /// Whether the control plane should send it soon.
    var isAwaited: Bool { resource == nil && timer == nil && (failure == nil || isCutOff) }
  }

  private struct TypeState {
    /// By name.
    var entries: [ExactText: Entry] = [:]
    /// The version of the latest response that was accepted.
    var version = ""
    /// The latest response of this stream.
    var nonce = ""
    /// Whether a request is due.
    var isDue = false
    /// Why the latest response is refused, until that is said.
    var refusal: String?
    /// The refusal that the log has, unless a response was accepted since.
    var loggedRefusal: String?
  }

  private enum Stream {
    case none
    case opened
    case connected
  }

  /// How long a control plane may take to send a resource.
  private static let patience = Duration.seconds(15)
  private static let longPatience = Duration.seconds(30)

  private let features: Set<XDSBootstrap.Feature>
  private var types: [TypeState] = Array(repeating: TypeState(), count: ResourceType.allCases.count)
  private var stream = Stream.none
  private var hasSent = false
  /// The types of which a request is due, in order.
  private var due: [ResourceType] = []
  private(set) var hasReceived = false
  private var lastTimer = 0
  /// How many resources there are, for metrics; `nil`: nobody wants to know.
  private(set) var counts: ResourceCounts?

  init(features: Set<XDSBootstrap.Feature> = [], counts: ResourceCounts? = nil) {
    self.features = features
    self.counts = counts
  }

  /// The resource that is known. For tests and for those who look on.
  func resource(_ key: ResourceKey) -> Resource? { types[key.type.rawValue].entries[key.name]?.resource }

  /// What is known of each resource that somebody watches, by type.
  var records: [(key: ResourceKey, record: ResourceRecord)] {
    ResourceType.allCases.flatMap { type in
      types[type.rawValue].entries.map { (ResourceKey(type, $0.key.text), $0.value.record) }
    }
  }

  // MARK: Watches

  mutating func watch(_ key: ResourceKey, _ id: WatchID) -> [Action] {
    if let known = types[key.type.rawValue].entries[key.name] {
      types[key.type.rawValue].entries[key.name]?.watches.append(id)
      return Self.story(of: known, for: id)
    }
    set(key, Entry(watches: [id]))
    ask(key.type)
    return startTimer(key)
  }

  /// What a new watch learns of what has happened.
  private static func story(of entry: Entry, for id: WatchID) -> [Action] {
    if let resource = entry.resource {
      let known = Action.tell([id], .resource(.success(resource)))
      return entry.failure.map { [known, .tell([id], .ambient($0))] } ?? [known]
    }
    return entry.failure.map { [.tell([id], .resource(.failure($0)))] } ?? []
  }

  mutating func unwatch(_ key: ResourceKey, _ id: WatchID) -> [Action] {
    let type = key.type.rawValue
    guard var entry = types[type].entries[key.name] else { return [] }
    entry.watches.removeAll { $0 == id }
    guard entry.watches.isEmpty else {
      types[type].entries[key.name] = entry
      return []
    }
    set(key, nil)
    ask(key.type)
    return entry.timer.map { [.cancelTimer($0)] } ?? []
  }

  // MARK: Requests

  /// Whether `nextRequest` has one.
  var hasRequest: Bool { !due.isEmpty }

  private mutating func ask(_ type: ResourceType) {
    guard stream != .none, !types[type.rawValue].isDue else { return }
    types[type.rawValue].isDue = true
    due.append(type)
  }

  /// The next request to send on the stream.
  mutating func nextRequest() -> DiscoveryRequest? {
    guard let type = due.first else { return nil }
    due.removeFirst()
    let state = types[type.rawValue]
    (types[type.rawValue].isDue, types[type.rawValue].refusal) = (false, nil)
    defer { hasSent = true }
    return DiscoveryRequest(
      type: type,
      names: state.entries.keys.map(\.text).sorted { $0.precedes($1) },
      version: state.version,
      nonce: state.nonce,
      refusal: state.refusal,
      isFirst: !hasSent
    )
  }

  // MARK: The stream

  /// A stream was opened: it can take requests, although it may not be connected yet.
  mutating func opened() {
    stream = .opened
    (hasSent, hasReceived) = (false, false)
    for type in ResourceType.allCases where !types[type.rawValue].entries.isEmpty { ask(type) }
  }

  /// The stream has a connection. From now on, the control plane's time counts.
  mutating func connected() -> [Action] {
    guard stream == .opened else { return [] }
    stream = .connected
    return ResourceType.allCases.flatMap { startTimers(of: $0) }
  }

  /// The stream has ended.
  mutating func ended(_ status: GRPCStatus) -> [Action] {
    guard stream != .none else { return [] }
    stream = .none
    due = []
    var actions: [Action] = []
    let failure = GRPCStatus.controlPlaneLost(status)
    for type in types.indices {
      (types[type].nonce, types[type].isDue, types[type].refusal) = ("", false, nil)
      for (name, entry) in types[type].entries {
        if let timer = entry.timer { actions.append(.cancelTimer(timer)) }
        types[type].entries[name]?.timer = nil
        // That a stream ends which has served is not worth a word.
        guard !hasReceived else { continue }
        actions += fail(ResourceKey(ResourceType.allCases[type], name.text), failure)
        types[type].entries[name]?.isCutOff = true
      }
    }
    return actions
  }

  private mutating func startTimers(of type: ResourceType) -> [Action] {
    var actions: [Action] = []
    for (name, entry) in types[type.rawValue].entries where entry.isAwaited {
      actions += startTimer(ResourceKey(type, name.text))
    }
    return actions
  }

  /// Starts the timer of a resource, if it is waited for. A walk over all of them for each new one would be endless.
  private mutating func startTimer(_ key: ResourceKey) -> [Action] {
    let type = key.type.rawValue
    guard stream == .connected, types[type].entries[key.name]?.isAwaited == true else { return [] }
    lastTimer += 1
    types[type].entries[key.name]?.timer = lastTimer
    let isPatient = features.contains(.resourceTimerIsTransientError)
    return [.startTimer(key, lastTimer, isPatient ? Self.longPatience : Self.patience)]
  }

  mutating func timeIsUp(
    _ key: ResourceKey,
    _ timer: TimerID,
    at time: Google_Protobuf_Timestamp = Google_Protobuf_Timestamp()
  ) -> [Action] {
    guard types[key.type.rawValue].entries[key.name]?.timer == timer else { return [] }
    types[key.type.rawValue].entries[key.name]?.timer = nil
    let isSlow = features.contains(.resourceTimerIsTransientError)
    let status: GRPCStatus = isSlow ? .slow(key) : .missing(key)
    note(key, isSlow ? .late : .missing, ResourceRecord.Failure(reason: status.message ?? "", time: time))
    return fail(key, status)
  }

  // MARK: Responses

  /// A response has come at `time`, with its resources read.
  mutating func received(
    _ type: ResourceType,
    version: String,
    nonce: String,
    _ reads: [ResourceReader.Read],
    at time: Google_Protobuf_Timestamp = Google_Protobuf_Timestamp()
  ) -> [Action] {
    guard stream != .none else { return [] }
    // What answers is connected.
    let wasConnected = stream == .connected
    stream = .connected
    var actions: [Action] = []
    hasReceived = true
    types[type.rawValue].nonce = nonce
    var present: Set<ExactText> = []
    var refusals = Refusals()
    for (position, read) in reads.enumerated() {
      switch read.result {
      case .success(let resource):
        guard let name = read.name else { continue }
        present.insert(ExactText(name))
        let used = ResourceRecord.Version(name: version, contents: read.contents, time: time)
        actions += accept(ResourceKey(type, name), resource, used)
      case .failure(let fault):
        refusals.add(read.name, position, fault)
        guard let name = read.name else { continue }
        present.insert(ExactText(name))
        let key = ResourceKey(type, name)
        let failure = ResourceRecord.Failure(
          reason: fault.description.excerpt(Refusals.longest),
          time: time,
          version: version,
          contents: read.contents
        )
        note(key, .refused, failure)
        actions += fail(key, .refused(key, fault), isOfData: true)
      }
    }
    if type.isWhole { actions += delete(type, except: present, version, time) }
    actions = actions.withFewLogs
    if refusals.isEmpty { types[type.rawValue].version = version }
    // A control plane may send the same mistake as often as it is refused.
    if let text = refusals.text, text != types[type.rawValue].loggedRefusal {
      actions.append(.log(.warning, "refused of version \(version.excerpt): \(text.excerpt(1000))"))
    }
    (types[type.rawValue].refusal, types[type.rawValue].loggedRefusal) = (refusals.text, refusals.text)
    ask(type)
    return wasConnected ? actions : actions + ResourceType.allCases.flatMap { startTimers(of: $0) }
  }

  /// A response is refused as a whole, and changes nothing.
  mutating func refused(_ type: ResourceType, nonce: String, _ fault: ResourceFault) -> [Action] {
    guard stream != .none else { return [] }
    hasReceived = true
    types[type.rawValue].nonce = nonce
    let reason = fault.description
    types[type.rawValue].refusal = reason
    ask(type)
    guard types[type.rawValue].loggedRefusal != reason else { return [] }
    types[type.rawValue].loggedRefusal = reason
    return [.log(.warning, "refused: \(reason)")]
  }

  private mutating func accept(
    _ key: ResourceKey,
    _ resource: Resource,
    _ used: ResourceRecord.Version
  ) -> [Action] {
    // Control planes may send what nobody has asked for.
    guard var entry = types[key.type.rawValue].entries[key.name] else { return [] }
    var actions: [Action] = []
    if let timer = entry.timer { actions.append(.cancelTimer(timer)) }
    if entry.isDeleted { actions.append(.log(.info, "\(key) is there again")) }
    if entry.resource != resource {
      actions.append(.tell(entry.watches, .resource(.success(resource))))
    } else if entry.failure != nil {
      actions.append(.tell(entry.watches, .ambient(nil)))
    }
    (entry.timer, entry.failure, entry.isDeleted) = (nil, nil, false)
    entry.resource = resource
    entry.record = ResourceRecord(status: .accepted, used: used)
    set(key, entry)
    return actions
  }

  /// A resource cannot be had. With `isOfData`, that is the data's fault and not the connection's.
  private mutating func fail(_ key: ResourceKey, _ status: GRPCStatus, isOfData: Bool = false) -> [Action] {
    guard var entry = types[key.type.rawValue].entries[key.name] else { return [] }
    var actions: [Action] = []
    if let timer = entry.timer { actions.append(.cancelTimer(timer)) }
    if isOfData, features.contains(.failOnDataErrors) { (entry.resource, entry.record.used) = (nil, nil) }
    (entry.timer, entry.failure, entry.isCutOff) = (nil, status, false)
    set(key, entry)
    let update = entry.resource == nil ? ResourceUpdate.resource(.failure(status)) : .ambient(status)
    return actions + [.tell(entry.watches, update)]
  }

  private mutating func note(
    _ key: ResourceKey,
    _ status: ResourceRecord.Status,
    _ failure: ResourceRecord.Failure
  ) {
    guard var entry = types[key.type.rawValue].entries[key.name] else { return }
    (entry.record.status, entry.record.failure) = (status, failure)
    set(key, entry)
  }

  /// Changes what is known of a resource, together with what is counted.
  private mutating func set(_ key: ResourceKey, _ entry: Entry?) {
    counts?.move(key, from: types[key.type.rawValue].entries[key.name]?.record, to: entry?.record)
    types[key.type.rawValue].entries[key.name] = entry
  }

  /// Resources that a response lacks which has all of them.
  private mutating func delete(
    _ type: ResourceType,
    except present: Set<ExactText>,
    _ version: String,
    _ time: Google_Protobuf_Timestamp
  ) -> [Action] {
    var actions: [Action] = []
    for (name, entry) in types[type.rawValue].entries where !present.contains(name) && !entry.isDeleted {
      // One that was asked for may not have been known to the control plane when it answered: its timer decides.
      guard entry.resource != nil || entry.timer == nil && entry.failure != nil else { continue }
      let key = ResourceKey(type, name.text)
      types[type.rawValue].entries[name]?.isDeleted = true
      if entry.resource != nil {
        let effect = features.contains(.failOnDataErrors) ? "is not used any more" : "is still used"
        actions.append(.log(.warning, "\(key) was deleted, and \(effect)"))
      }
      let status = GRPCStatus.missing(key)
      let failure = ResourceRecord.Failure(reason: status.message ?? "", time: time, version: version)
      note(key, .missing, failure)
      actions += fail(key, status, isOfData: true)
    }
    return actions
  }
}

import SwitchboardCall
import SwitchboardText

/// What is known of the resources that somebody watches, as a value. It does not know who sends them.
///
/// ```
///   asked ──a valid one──> known <──a valid one────── failed
///     │                      │                          ^
///     └──refused, too late,──┴──deleted, refused, ──────┘   (a known one: only if faults of data count)
///        an error               an error of data
/// ```
struct ResourceCache: Sendable {
  typealias Action = DiscoveryState.Action
  typealias WatchID = DiscoveryState.WatchID
  typealias TimerID = DiscoveryState.TimerID

  private struct Entry {
    let authority: Int
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
    /// Whether nobody has said what it is, or that there is none.
    var isUnknown: Bool {
      resource == nil && record.status != .missing && record.status != .withheld(isMissing: true)
    }
    /// Whether it is gone if a response lacks it that has all resources.
    var isGoneIfAbsent: Bool {
      // Why it is not sent is said once, and counts until something else is said.
      if case .withheld = record.status { return false }
      // One that was asked for may not have been known to the control plane when it answered: its timer decides.
      return !isDeleted && (resource != nil || timer == nil && failure != nil)
    }
  }

  /// By type and name.
  private var entries: [[ExactText: Entry]] = Array(repeating: [:], count: ResourceType.allCases.count)
  /// How many there are of each authority.
  private var sizes: [Int]
  private var lastTimer = 0
  /// How many resources there are, for metrics; `nil`: nobody wants to know.
  private(set) var counts: ResourceCounts?

  init(authorities: Int, counts: ResourceCounts?) {
    sizes = Array(repeating: 0, count: authorities)
    self.counts = counts
  }

  private subscript(_ key: ResourceKey) -> Entry? { entries[key.type.rawValue][key.name] }

  /// Changes what is known of a resource, together with what is counted.
  private mutating func set(_ key: ResourceKey, _ entry: Entry?) {
    let before = self[key]?.record
    counts?.move(key, from: before, to: entry?.record)
    entries[key.type.rawValue][key.name] = entry
  }

  // MARK: Looking

  func resource(_ key: ResourceKey) -> Resource? { self[key]?.resource }

  /// `nil` if nobody watches it.
  func record(_ key: ResourceKey) -> ResourceRecord? { self[key]?.record }

  /// `nil` if nobody watches it.
  func authority(of key: ResourceKey) -> Int? { self[key]?.authority }

  /// What is known of each resource, by type.
  var records: [(key: ResourceKey, record: ResourceRecord)] {
    ResourceType.allCases.flatMap { type in
      entries[type.rawValue].map { (ResourceKey(type, $0.key.text), $0.value.record) }
    }
  }

  /// The names that some authorities watch, sorted by their bytes.
  func names(_ type: ResourceType, of isAsking: [Bool]) -> [String] {
    entries[type.rawValue].lazy.filter { isAsking[$0.value.authority] }.map(\.key.text)
      .sorted { $0.precedes($1) }
  }

  func hasEntries(_ type: ResourceType, of isAsking: [Bool]) -> Bool {
    entries[type.rawValue].values.contains { isAsking[$0.authority] }
  }

  func isEmpty(_ authority: Int) -> Bool { sizes[authority] == 0 }

  /// The first resource by name of which nothing is known, of the first type that has one.
  func firstUnknown(of authority: Int) -> ResourceKey? {
    for type in ResourceType.allCases {
      let unknown = entries[type.rawValue].lazy.filter {
        $0.value.authority == authority && $0.value.isUnknown
      }
      if let name = unknown.map(\.key.text).min(by: { $0.precedes($1) }) { return ResourceKey(type, name) }
    }
    return nil
  }

  // MARK: Watches

  /// Returns whether the resource is watched for the first time, and what the watch learns of what has happened.
  mutating func watch(_ key: ResourceKey, _ id: WatchID, of authority: Int) -> (isNew: Bool, [Action]) {
    if let known = self[key] {
      entries[key.type.rawValue][key.name]?.watches.append(id)
      return (false, Self.story(of: known, for: id))
    }
    set(key, Entry(authority: authority, watches: [id]))
    sizes[authority] += 1
    return (true, [])
  }

  private static func story(of entry: Entry, for id: WatchID) -> [Action] {
    if let resource = entry.resource {
      let known = Action.tell([id], .resource(.success(resource)))
      return entry.failure.map { [known, .tell([id], .ambient($0))] } ?? [known]
    }
    return entry.failure.map { [.tell([id], .resource(.failure($0)))] } ?? []
  }

  /// Returns whether nobody watches the resource any more.
  mutating func unwatch(_ key: ResourceKey, _ id: WatchID) -> (isGone: Bool, [Action]) {
    guard var entry = self[key] else { return (false, []) }
    entry.watches.removeAll { $0 == id }
    guard entry.watches.isEmpty else {
      entries[key.type.rawValue][key.name] = entry
      return (false, [])
    }
    set(key, nil)
    sizes[entry.authority] -= 1
    return (true, entry.timer.map { [.cancelTimer($0)] } ?? [])
  }

  // MARK: Timers

  /// Starts the timer of a resource, if it is waited for. A walk over all of them for each new one would be endless.
  mutating func startTimer(_ key: ResourceKey, _ patience: Duration) -> [Action] {
    guard self[key]?.isAwaited == true else { return [] }
    lastTimer += 1
    entries[key.type.rawValue][key.name]?.timer = lastTimer
    return [.startTimer(key, lastTimer, patience)]
  }

  mutating func startTimers(of authority: Int, _ patience: Duration) -> [Action] {
    var actions: [Action] = []
    for type in ResourceType.allCases {
      for (name, entry) in entries[type.rawValue] where entry.authority == authority && entry.isAwaited {
        actions += startTimer(ResourceKey(type, name.text), patience)
      }
    }
    return actions
  }

  mutating func cancelTimers(of authority: Int) -> [Action] {
    var actions: [Action] = []
    for type in entries.indices {
      for (name, entry) in entries[type] where entry.authority == authority {
        guard let timer = entry.timer else { continue }
        actions.append(.cancelTimer(timer))
        entries[type][name]?.timer = nil
      }
    }
    return actions
  }

  /// Returns the authority of the resource; `nil` if the timer was cancelled.
  mutating func timerFired(_ key: ResourceKey, _ timer: TimerID) -> Int? {
    guard let entry = self[key], entry.timer == timer else { return nil }
    entries[key.type.rawValue][key.name]?.timer = nil
    return entry.authority
  }

  // MARK: What becomes of resources

  /// A valid one has come from a control plane. The caller logs the text, if there is one.
  mutating func accept(
    _ key: ResourceKey,
    _ resource: Resource,
    _ used: ResourceRecord.Version
  ) -> (actions: [Action], remark: String?) {
    // Control planes may send what nobody has asked for.
    guard var entry = self[key] else { return ([], nil) }
    var actions: [Action] = []
    if let timer = entry.timer { actions.append(.cancelTimer(timer)) }
    let remark = entry.isDeleted ? "\(key) is there again" : nil
    if entry.resource != resource {
      actions.append(.tell(entry.watches, .resource(.success(resource))))
    } else if entry.failure != nil {
      actions.append(.tell(entry.watches, .ambient(nil)))
    }
    (entry.timer, entry.failure, entry.isDeleted) = (nil, nil, false)
    entry.resource = resource
    entry.record = ResourceRecord(status: .accepted, used: used)
    set(key, entry)
    return (actions, remark)
  }

  /// A resource cannot be had. With `drops`, what was known of it is not used any more.
  mutating func fail(_ key: ResourceKey, _ status: GRPCStatus, drops: Bool = false) -> [Action] {
    guard var entry = self[key] else { return [] }
    var actions: [Action] = []
    if let timer = entry.timer { actions.append(.cancelTimer(timer)) }
    if drops { (entry.resource, entry.record.used) = (nil, nil) }
    (entry.timer, entry.failure, entry.isCutOff) = (nil, status, false)
    set(key, entry)
    let update = entry.resource == nil ? ResourceUpdate.resource(.failure(status)) : .ambient(status)
    return actions + [.tell(entry.watches, update)]
  }

  /// No control plane can be asked for a resource.
  mutating func lose(_ key: ResourceKey, _ status: GRPCStatus) -> [Action] {
    let actions = fail(key, status)
    entries[key.type.rawValue][key.name]?.isCutOff = true
    return actions
  }

  /// No control plane can be asked for the resources of an authority.
  mutating func lose(_ authority: Int, _ status: GRPCStatus) -> [Action] {
    var actions: [Action] = []
    for type in ResourceType.allCases {
      for (name, entry) in entries[type.rawValue] where entry.authority == authority {
        actions += lose(ResourceKey(type, name.text), status)
      }
    }
    return actions
  }

  mutating func note(
    _ key: ResourceKey,
    _ status: ResourceRecord.Status,
    _ failure: ResourceRecord.Failure
  ) {
    guard var entry = self[key] else { return }
    (entry.record.status, entry.record.failure) = (status, failure)
    set(key, entry)
  }

  /// The resources of some authorities that a response lacks which has all of them. Returns which there were, and whether they
  /// were known.
  mutating func delete(
    _ type: ResourceType,
    except present: Set<ExactText>,
    of isUsing: [Bool]
  ) -> [(key: ResourceKey, wasKnown: Bool)] {
    var deleted: [(key: ResourceKey, wasKnown: Bool)] = []
    for (name, entry) in entries[type.rawValue]
    where isUsing[entry.authority] && !present.contains(name) && entry.isGoneIfAbsent {
      entries[type.rawValue][name]?.isDeleted = true
      deleted.append((ResourceKey(type, name.text), entry.resource != nil))
    }
    return deleted
  }
}

// text: the attributes that users see

import SwitchboardCall

/// One step of a trace: a call, an attempt, or a step of the program. Any task may use it.
///
/// A span that is not recorded ignores everything that is set.
public final class Span: Sendable {
  /// The relation of a span to its parent.
  public enum Kind: Int, Sendable {
    /// A step within the process.
    case `internal` = 1
    /// A call that the process serves.
    case server = 2
    /// A call that the process makes.
    case client = 3
    /// A message that is put into a queue.
    case producer = 4
    /// A message that is taken from a queue.
    case consumer = 5
  }

  /// The identity.
  public let context: SpanContext
  let parent: SpanID?
  /// Whether the parent belongs to another process.
  let hasRemoteParent: Bool
  let kind: Kind
  let start: UInt64
  private let tracer: Tracer?
  private let state: Locked<State>

  struct State: Sendable {
    var name: String
    var attributes: [Attribute] = []
    var events: [Event] = []
    var links: [SpanContext] = []
    var droppedAttributes = 0
    var droppedEvents = 0
    var failure: String?
    var hasSucceeded = false
    var hasEnded = false
  }

  struct Event: Sendable {
    let name: String
    /// The time, as a reading of the clock.
    let time: UInt64
    let attributes: [Attribute]
  }

  /// `tracer` is `nil` for a span that is not recorded.
  init(
    _ name: String,
    _ context: SpanContext,
    parent: SpanIdentity = .none,
    kind: Kind,
    start: UInt64,
    _ tracer: Tracer?
  ) {
    self.context = context
    self.parent = parent.isValid ? parent.spanID : nil
    hasRemoteParent = parent.isRemote
    self.kind = kind
    self.start = start
    self.tracer = tracer
    state = Locked(State(name: name))
  }

  /// A span that was never ended cannot be exported, and is lost.
  deinit {
    if let tracer, !state.withLock({ $0.hasEnded }) { tracer.spanWasLost() }
  }

  /// Whether the span is recorded and has not ended.
  public var isRecording: Bool { tracer != nil && !state.withLock { $0.hasEnded } }

  private func change(_ change: (inout State, SpanLimits) -> Void) {
    guard let tracer else { return }
    state.withLock { if !$0.hasEnded { change(&$0, tracer.limits) } }
  }

  /// Sets an attribute. A later value replaces an earlier one.
  public func set(_ key: String, _ value: AttributeValue) {
    change { state, limits in
      let key = key.limited(to: limits.keyLength)
      let attribute = Attribute(key, value.limited(to: limits.valueLength))
      if let index = state.attributes.firstIndex(where: { $0.key == key }) {
        state.attributes[index] = attribute
      } else if state.attributes.count < limits.attributes {
        state.attributes.append(attribute)
      } else {
        state.droppedAttributes += 1
      }
    }
  }

  /// Changes the name.
  public func rename(_ name: String) {
    change { state, limits in state.name = name.limited(to: limits.valueLength) }
  }

  /// Adds an event that happens now.
  public func addEvent(_ name: String, _ attributes: [String: AttributeValue] = [:]) {
    guard let tracer else { return }
    addEvent(name, attributes, time: tracer.clock.now)
  }

  /// Adds an event that happened at a date, in nanoseconds since 1970.
  package func addEvent(_ name: String, _ attributes: [String: AttributeValue], at date: UInt64) {
    guard let tracer else { return }
    addEvent(name, attributes, time: tracer.clock.reading(at: date))
  }

  private func addEvent(_ name: String, _ attributes: [String: AttributeValue], time: UInt64) {
    change { state, limits in
      guard state.events.count < limits.events else {
        state.droppedEvents += 1
        return
      }
      let kept = attributes.sortedAttributes.prefix(limits.attributes)
        .map { Attribute($0.key.limited(to: limits.keyLength), $0.value.limited(to: limits.valueLength)) }
      state.events.append(Event(name: name.limited(to: limits.valueLength), time: time, attributes: kept))
    }
  }

  /// Links the span to one of another trace, such as that of a message in a queue.
  public func link(to other: SpanContext) {
    change { state, limits in
      if state.links.count < limits.events { state.links.append(other) }
    }
  }

  /// Marks the span as failed.
  public func fail(_ reason: String) {
    change { state, limits in state.failure = reason.limited(to: limits.valueLength) }
  }

  /// Ends the span. Later calls have no effect.
  public func end() {
    guard let tracer else { return }
    end(at: tracer.clock.now)
  }

  /// Ends the span at a date, in nanoseconds since 1970.
  package func end(atDate date: UInt64) {
    guard let tracer else { return }
    end(at: tracer.clock.reading(at: date))
  }

  func end(at time: UInt64) {
    guard let tracer else { return }
    let ended: State? = state.withLock { state in
      guard !state.hasEnded else { return nil }
      state.hasEnded = true
      let ended = state
      state.attributes = []
      state.events = []
      return ended
    }
    if let ended { tracer.spanEnded(SpanRecord(self, ended, end: time)) }
  }
}

/// Limits of what one span may contain.
struct SpanLimits: Sendable {
  var attributes = 128
  var events = 128
  /// The maximum number of bytes of a text.
  var valueLength = 4096
  var keyLength = 256
}

/// A span that has ended.
struct SpanRecord: Sendable {
  let context: SpanContext
  let parent: SpanID?
  let hasRemoteParent: Bool
  let kind: Span.Kind
  let start: UInt64
  let end: UInt64
  let state: Span.State

  init(_ span: Span, _ state: Span.State, end: UInt64) {
    context = span.context
    parent = span.parent
    hasRemoteParent = span.hasRemoteParent
    kind = span.kind
    start = span.start
    // The clock's readings may have wrapped around.
    self.end = Int64(bitPattern: end &- span.start) < 0 ? span.start : end
    self.state = state
  }

  /// The approximate number of bytes that it takes in memory.
  var cost: Int {
    let events = state.events.reduce(0) {
      $0 + 96 + $1.name.utf8.count + $1.attributes.reduce(0) { $0 + $1.cost }
    }
    return 512 + state.name.utf8.count + context.traceState.utf8.count + (state.failure?.utf8.count ?? 0)
      + state.links.reduce(0) { $0 + 128 + $1.traceState.utf8.count }
      + state.attributes.reduce(0) { $0 + $1.cost } + events
  }
}

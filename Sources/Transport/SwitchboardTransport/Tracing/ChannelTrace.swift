/// The latest events of a channel, in order.
package struct ChannelTrace: Sendable {
  /// An event.
  package struct Event: Sendable {
    /// A description for people.
    package let description: String
    /// Whether it deserves attention.
    package let isWarning: Bool
    /// When it happened.
    package let time: ContinuousClock.Instant
  }

  /// The maximum number of events. New events replace the oldest.
  package static let limit = 30

  /// When the channel was created.
  package let created = ContinuousClock.now
  /// The number of all events, including those no longer kept.
  package private(set) var eventCount = 0
  /// The latest events.
  package private(set) var events: [Event] = []

  init() { add("the channel was made") }

  mutating func add(_ description: String, isWarning: Bool = false) {
    if events.count == Self.limit { events.removeFirst() }
    events.append(Event(description: description, isWarning: isWarning, time: .now))
    eventCount += 1
  }
}

/// The latest events of a channel, in order.
public struct ChannelTrace: Sendable {
  /// An event.
  public struct Event: Sendable {
    /// A description for people.
    public let description: String
    /// Whether it deserves attention.
    public let isWarning: Bool
    /// When it happened.
    public let time: ContinuousClock.Instant
  }

  /// The maximum number of events. New events replace the oldest.
  public static let limit = 30

  /// When the channel was created.
  public let created = ContinuousClock.now
  /// The number of all events, including those no longer kept.
  public private(set) var eventCount = 0
  /// The latest events.
  public private(set) var events: [Event] = []

  init() { add("the channel was made") }

  mutating func add(_ description: String, isWarning: Bool = false) {
    if events.count == Self.limit { events.removeFirst() }
    events.append(Event(description: description, isWarning: isWarning, time: .now))
    eventCount += 1
  }
}

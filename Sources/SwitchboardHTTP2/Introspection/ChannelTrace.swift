/// What has happened to a channel: its latest events, in their order.
public struct ChannelTrace: Sendable {
  /// Something that happened.
  public struct Event: Sendable {
    /// In words, for people.
    public let description: String
    /// Whether it is worth a look.
    public let isWarning: Bool
    /// When it was.
    public let time: ContinuousClock.Instant
  }

  /// How many are kept. The oldest make room.
  public static let limit = 30

  /// When the channel was made.
  public let created = ContinuousClock.now
  /// All there were, those included that are not kept any more.
  public private(set) var eventCount = 0
  /// The latest of them.
  public private(set) var events: [Event] = []

  init() { add("the channel was made") }

  mutating func add(_ description: String, isWarning: Bool = false) {
    if events.count == Self.limit { events.removeFirst() }
    events.append(Event(description: description, isWarning: isWarning, time: .now))
    eventCount += 1
  }
}

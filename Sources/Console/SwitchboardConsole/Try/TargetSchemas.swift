import SwitchboardCall
import SwitchboardDynamic
import SwitchboardText

/// The methods of targets, which are kept for a while: to get them takes calls.
actor TargetSchemas {
  private struct Entry {
    let made: ContinuousClock.Instant
    let schema: Task<TargetSchema, any Error>
  }

  private let time: any CallTime
  private var entries: [ExactText: Entry] = [:]

  /// How long the methods of another server are taken for the same.
  static let freshness = Duration.seconds(60)
  /// How soon after a failure it is asked again.
  static let pause = Duration.seconds(3)
  private static let mostEntries = 32

  init(_ time: any CallTime) { self.time = time }

  func schema(of target: any CallTarget) async throws -> TargetSchema {
    let now = time.now
    entries = entries.filter { $0.value.made.duration(to: now) < Self.freshness }
    if let known = entries[target.id] { return try await known.schema.value }
    if entries.count >= Self.mostEntries { entries = [:] }
    let schema = Task.detached(priority: .utility) { try await target.schema() }
    entries[target.id] = Entry(made: now, schema: schema)
    do {
      return try await schema.value
    } catch {
      if entries[target.id]?.made == now {
        // What failed is not kept as long.
        let made = now.advanced(by: Self.pause - Self.freshness)
        entries[target.id] = Entry(made: made, schema: schema)
      }
      throw error
    }
  }
}

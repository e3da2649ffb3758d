import SwitchboardCall
import SwitchboardDynamic
import SwitchboardText

/// The methods of targets, which are kept for a while: to get them takes calls.
actor TargetSchemas {
  private struct Entry {
    let made: ContinuousClock.Instant
    let schema: Task<TargetSchema, any Error>
  }

  private let clock: ConsoleClock
  private var entries: [ExactText: Entry] = [:]

  /// How long the methods of another server are taken for the same.
  static let freshness = Duration.seconds(60)
  /// How soon after a failure it is asked again.
  static let pause = Duration.seconds(3)
  private static let mostEntries = 32
  /// How long a server may take for all its descriptors, and how long somebody waits for them, who may ask again.
  static let limit = Duration.seconds(30)
  static let patience = Duration.seconds(3)

  /// There are no descriptors yet, or there were none in time.
  struct Late: Error, CustomStringConvertible {
    let description: String
  }

  init(_ clock: ConsoleClock) { self.clock = clock }

  /// Throws if it takes too long; what is asked for then goes on.
  func schema(of target: any CallTarget) async throws -> TargetSchema {
    let schema = Task(executorPreference: clock.loop) { [self] in try await whole(of: target) }
    guard let result = await clock.inTime(within: Self.patience, { await schema.result }) else {
      throw Late(description: "\(target.name) has not sent its descriptors yet: they are shown when it has")
    }
    return try result.get()
  }

  private func whole(of target: any CallTarget) async throws -> TargetSchema {
    let now = clock.time.now
    entries = entries.filter { $0.value.made.duration(to: now) < Self.freshness }
    if let known = entries[target.id] { return try await known.schema.value }
    if entries.count >= Self.mostEntries { entries = [:] }
    let clock = clock
    let schema = Task.detached(executorPreference: clock.loop) {
      let result = await clock.stopping(after: Self.limit) { await Self.result(of: target) }
      return try result.get()
    }
    entries[target.id] = Entry(made: now, schema: schema)
    do {
      return try await schema.value
    } catch {
      if entries[target.id]?.made == now {
        // What failed is not kept as long, and counts from its end: it may have taken longer than that.
        let made = clock.time.now.advanced(by: Self.pause - Self.freshness)
        entries[target.id] = Entry(made: made, schema: schema)
      }
      throw error
    }
  }

  private static func result(of target: any CallTarget) async -> Result<TargetSchema, any Error> {
    do {
      return .success(try await target.schema())
    } catch {
      guard Task.isCancelled else { return .failure(error) }
      let text = "\(target.name) has not sent its descriptors within \(limit.components.seconds) s"
      return .failure(Late(description: text))
    }
  }
}

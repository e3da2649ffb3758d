import SwitchboardCall
import SwitchboardText
import SwitchboardTransport

/// Makes the answers of views: in each queue one at a time, and one for all who ask the same at about the same time. So any number
/// of viewers never take more than one thread, which is the console's own: those of the process may all be busy when somebody
/// looks. What waits for another server holds up only what waits for the same.
actor SharedAnswers {
  private struct Entry {
    let made: ContinuousClock.Instant
    let answer: Task<HTTPPage.Response, Never>
  }

  /// Answers that are made one after another.
  private struct Queue {
    var waiting = 0
    var last: Task<HTTPPage.Response, Never>?
  }

  private let time: any CallTime
  /// Where answers are made.
  private let executor: any TaskExecutor
  private var entries: [ExactText: Entry] = [:]
  /// Those with answers that wait, by what they wait for.
  private var queues: [ExactText: Queue] = [:]

  /// How old an answer may be when it is given again.
  static let freshness = Duration.milliseconds(500)
  /// The most answers of a queue that wait to be made: further ones are refused, so that viewers who are gone leave little
  /// behind.
  static let mostWaiting = 16
  /// The most answers that are kept.
  static let mostEntries = 64

  init(_ time: any CallTime, on executor: any TaskExecutor) {
    self.time = time
    self.executor = executor
  }

  var entryCount: Int { entries.count }

  /// The answer to the request with this path and query, in a queue of the console's own choice: there are few.
  func answer(
    to request: String,
    in queue: String = "",
    _ make: @escaping @Sendable () async -> HTTPPage.Response
  ) async -> HTTPPage.Response {
    let now = time.now
    if let known = entries[request], known.made.duration(to: now) < Self.freshness {
      return await known.answer.value
    }
    var line = queues[queue] ?? Queue()
    guard line.waiting < Self.mostWaiting else {
      return .text(503, "the console has too many requests to answer")
    }
    let previous = line.last
    let answer = Task.detached(executorPreference: executor) {
      _ = await previous?.value
      return await make()
    }
    line.waiting += 1
    line.last = answer
    queues[queue] = line
    defer { leave(queue) }
    makeRoom(now)
    entries[request] = Entry(made: now, answer: answer)
    return await answer.value
  }

  /// Something was done that views show: answers of before are old.
  func forget() { entries = [:] }

  private func leave(_ queue: String) {
    guard var line = queues[queue] else { return }
    line.waiting -= 1
    queues[queue] = line.waiting > 0 ? line : nil
  }

  private func makeRoom(_ now: ContinuousClock.Instant) {
    entries = entries.filter { $0.value.made.duration(to: now) < Self.freshness }
    guard entries.count >= Self.mostEntries, let oldest = entries.min(by: { $0.value.made < $1.value.made })
    else {
      return
    }
    entries[oldest.key] = nil
  }
}

import Dispatch
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// An interceptor that holds parts of its call back, in order, and may answer the call itself.
protocol PartHolder {
  func hold()
  func release()
  /// Ends the call in place of its peer.
  func answer()
}

/// The random life of one connection and its calls, from a seed: each step runs in its own turn of the loop, after all
/// effects of the previous step.
class Life {
  let loop: Loop
  var dice: Dice
  private(set) var calls = 0
  private var stepsLeft: Int
  private var phase = Phase.living
  private let tracing: Bool
  /// Whether nothing of its session is in place when a step begins.
  private let packs: Bool
  private(set) var trace: [String] = []
  private(set) var violation: Violation?

  private enum Phase {
    case living
    /// The connection is closed, and handlers were asked to return.
    case ending(since: ContinuousClock.Instant)
  }

  init(_ loop: Loop, seed: UInt64, tracing: Bool) {
    self.loop = loop
    self.tracing = tracing
    packs = seed % 2 == 1
    dice = Dice(seed: seed)
    stepsLeft = 0
    stepsLeft = 20 + dice.below(100)
  }

  // MARK: For subclasses

  /// Performs a random step and checks its effects. Returns `false` when the connection is closed.
  func step() throws(Violation) -> Bool { false }
  /// The session of the connection; `nil` when that is gone.
  var session: (any HTTPSession)? { nil }
  /// Closes the connection and lets all handlers return.
  func end() throws(Violation) {}
  /// An object that still exists but should have been released; `nil` if there is none.
  func remains() throws(Violation) -> String? { nil }

  func note(_ what: @autoclosure () -> String) { if tracing { trace.append(what()) } }
  func countCall() { calls += 1 }

  final func step(_ holder: some PartHolder) {
    if dice.oneIn(3) {
      note("an interceptor holds back")
      holder.hold()
    } else if dice.oneIn(8) {
      note("an interceptor answers")
      holder.answer()
    } else {
      note("an interceptor releases its parts")
      holder.release()
    }
  }

  private func packSession() throws(Violation) {
    guard packs, let session else { return }
    session.pack()
    // Of HTTP/1.1, nothing is kept in an arena.
    try Violation.unless(session.isPacked || !(session is Session), "the session is not packed")
  }

  /// Returns `false` when it is over.
  final func live() -> Bool {
    do throws(Violation) {
      switch phase {
      case .living:
        stepsLeft -= 1
        try packSession()
        if stepsLeft > 0, try step() { return true }
        note("the connection is closed")
        try end()
        phase = .ending(since: .now)
      case .ending(let since):
        guard let remains = try remains() else { return false }
        // Messages are decompressed on other threads, which may wait for a processor.
        try Violation.unless(.now - since < .seconds(60), remains)
      }
      return true
    } catch {
      violation = error
      return false
    }
  }
}

/// Runs lives one after the other on a loop, one step per turn.
final class LifeRunner: Flushable, @unchecked Sendable {
  // Sendable because it is used on the loop; the caller waits meanwhile.
  private let loop: Loop
  private let make: (UInt64, Bool) -> Life?
  private var seed: UInt64
  private var life: Life?
  private(set) var calls = 0
  private(set) var lives = 0
  private let wantedCalls: Int
  /// Whether so few calls are wanted that they can only repeat a failure: their steps are recorded at once, since what a
  /// life leaves behind may end its repetition early.
  private var repeats: Bool { wantedCalls < StateCheck.leastCalls }
  private(set) var failure: Failure?
  /// The failure already contains its steps.
  private var isNotified = false
  private let done = DispatchSemaphore(value: 0)

  struct Failure: Error, CustomStringConvertible {
    let seed: UInt64
    let violation: Violation
    let trace: [String]

    var description: String {
      "STATE_SEED=\(seed): \(violation)\n" + trace.map { "  \($0)\n" }.joined()
    }
  }

  /// Runs lives with successive seeds until there were enough calls.
  init(_ loop: Loop, seed: UInt64, calls: Int, _ make: @escaping (UInt64, Bool) -> Life?) {
    self.loop = loop
    self.seed = seed
    self.make = make
    wantedCalls = calls
  }

  func run() throws {
    loop.execute { self.loop.markDirty(self) }
    done.wait()
    if let failure { throw failure }
  }

  func flush() {
    // What happens does not depend on how long the loop has been at work.
    loop.work.begin(until: .max)
    if life == nil {
      guard let next = make(seed, failure != nil || repeats) else { return finish() }
      life = next
    }
    guard let life else { return }
    if !life.live() { didEnd(life) }
    if self.life != nil || (failure == nil ? calls < wantedCalls : !isNotified) {
      loop.markDirty(self)
    } else {
      finish()
    }
  }

  private func didEnd(_ life: Life) {
    self.life = nil
    lives += 1
    if let violation = failure?.violation ?? life.violation, failure != nil || repeats {
      isNotified = true
      failure = Failure(seed: seed, violation: violation, trace: life.trace)
    } else if let violation = life.violation {
      // Once more, to record every step.
      failure = Failure(seed: seed, violation: violation, trace: [])
    } else {
      calls += life.calls
      seed &+= 1
    }
  }

  private func finish() { done.signal() }
}

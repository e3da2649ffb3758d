import Dispatch
import SwitchboardCall

@testable import SwitchboardHTTP2

/// The life of one connection and the calls on it, which one seed makes: each step happens in a turn of the loop of its own,
/// so that what follows from the one before has happened.
class Life {
  let loop: Loop
  var dice: Dice
  private(set) var calls = 0
  private var stepsLeft: Int
  private var phase = Phase.living
  private let tracing: Bool
  private(set) var trace: [String] = []
  private(set) var violation: Violation?

  private enum Phase {
    case living
    /// The connection is closed, and handlers were told to return.
    case ending(turnsLeft: Int)
  }

  init(_ loop: Loop, seed: UInt64, tracing: Bool) {
    self.loop = loop
    self.tracing = tracing
    dice = Dice(seed: seed)
    stepsLeft = 0
    stepsLeft = 20 + dice.below(100)
  }

  // MARK: For subclasses

  /// Does something, and looks at what it led to. `false` when the connection is closed.
  func step() throws(Violation) -> Bool { false }
  /// Ends the connection, and has everyone return.
  func end() throws(Violation) {}
  /// What is still there, which nothing should keep; `nil` when all is gone.
  func remains() throws(Violation) -> String? { nil }

  func note(_ what: @autoclosure () -> String) { if tracing { trace.append(what()) } }
  func countCall() { calls += 1 }

  /// `false` when it is over.
  final func live() -> Bool {
    do throws(Violation) {
      switch phase {
      case .living:
        stepsLeft -= 1
        if stepsLeft > 0, try step() { return true }
        note("the connection is closed")
        try end()
        phase = .ending(turnsLeft: 200)
      case .ending(let turnsLeft):
        guard let remains = try remains() else { return false }
        try Violation.unless(turnsLeft > 0, remains)
        phase = .ending(turnsLeft: turnsLeft - 1)
      }
      return true
    } catch {
      violation = error
      return false
    }
  }
}

/// Lives one after the other on a loop, a step in each turn.
final class LifeRunner: Flushable, @unchecked Sendable {
  // Sendable holds because all of it is used on the loop; the caller waits meanwhile.
  private let loop: Loop
  private let make: (UInt64, Bool) -> Life?
  private var seed: UInt64
  private var life: Life?
  private(set) var calls = 0
  private(set) var lives = 0
  private let wantedCalls: Int
  private(set) var failure: Failure?
  /// The failure has its steps.
  private var isTold = false
  private let done = DispatchSemaphore(value: 0)

  struct Failure: Error, CustomStringConvertible {
    let seed: UInt64
    let violation: Violation
    let trace: [String]

    var description: String {
      "STATE_SEED=\(seed): \(violation)\n" + trace.map { "  \($0)\n" }.joined()
    }
  }

  /// From this seed on, one for each life, until there were so many calls.
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
    if life == nil {
      guard let next = make(seed, failure != nil) else { return finish() }
      life = next
    }
    guard let life else { return }
    if !life.live() { didEnd(life) }
    if self.life != nil || (failure == nil ? calls < wantedCalls : !isTold) {
      loop.markDirty(self)
    } else {
      finish()
    }
  }

  private func didEnd(_ life: Life) {
    self.life = nil
    lives += 1
    if let failure {
      isTold = true
      self.failure = Failure(seed: seed, violation: life.violation ?? failure.violation, trace: life.trace)
    } else if let violation = life.violation {
      // Once more, to tell of every step.
      failure = Failure(seed: seed, violation: violation, trace: [])
    } else {
      calls += life.calls
      seed &+= 1
    }
  }

  private func finish() { done.signal() }
}

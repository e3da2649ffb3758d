import Glibc
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Checks random lives of connections against the models of their calls.
enum StateCheck {
  enum Role: String, CaseIterable, Sendable {
    case server, client
    /// Over HTTP/1.1.
    case http1Server, http1Client
  }

  struct Report: CustomStringConvertible {
    let role: Role
    let calls: Int
    let lives: Int
    let ends: EndCounter

    var description: String {
      "\(role): \(calls) calls on \(lives) connections: \(ends.okCount) ended well, \(ends.failureCount) did not, "
        + "and \(ends.messageCount) messages went through"
    }
  }

  /// Throws a deviation from the model, with the seed that repeats it. A loop that has no time does one job in each turn.
  static func run(_ role: Role, seed: UInt64, calls: Int, hasTime: Bool = true) throws -> Report {
    let group = try LoopGroup()
    let loop = group.loops[0]
    if !hasTime { loop.execute { loop.work.limit = 0 } }
    let ends = EndCounter()
    let make: (UInt64, Bool) -> Life?
    switch role {
    case .server, .http1Server:
      let script = Script()
      var options = HandlerLife.options(ends)
      if role == .http1Server { options.web = WebOptions() }
      let server = try Server(
        providers: [ScriptedService(script: script)],
        options: options,
        group: group
      )
      let core = server.core
      make =
        role == .server
        ? { ServerLife(core, loop, script, seed: $0, tracing: $1) }
        : { HTTP1ServerLife(core, loop, script, seed: $0, tracing: $1) }
    case .client, .http1Client:
      let options = CallerLife.options(ends)
      make =
        role == .client
        ? { ClientLife(group, options, seed: $0, tracing: $1) }
        : { HTTP1ClientLife(group, options, seed: $0, tracing: $1) }
    }
    let runner = LifeRunner(loop, seed: seed, calls: calls, make)
    try runner.run()
    try ends.check()
    let report = Report(role: role, calls: runner.calls, lives: runner.lives, ends: ends)
    // A check in which nothing happens proves nothing.
    try Violation.unless(
      calls < leastCalls
        || ends.okCount > calls / 100 && ends.failureCount > calls / 100 && ends.messageCount > calls / 20,
      "too little happened: \(report)"
    )
    return report
  }

  /// Fewer calls only repeat a failure.
  static let leastCalls = 1000

  /// The role that `STATE_ROLE` names, or all.
  static var chosenRoles: [Role] {
    let name = getenv("STATE_ROLE").map { String(cString: $0) }
    return Role.allCases.filter { name == nil || $0.rawValue == name }
  }

  /// The values of `STATE_SEED` and `STATE_CALLS` in the environment.
  static func chosen(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }
}

/// Checks that every call that starts ends once.
final class EndCounter: CallObserver {
  private struct Counts {
    var open: Set<Int> = []
    var started = 0
    var ok = 0
    var messages = 0
    var violation: Violation?
  }

  private let counts = Locked(Counts())

  var okCount: Int { counts.withLock(\.ok) }
  var failureCount: Int { counts.withLock { $0.started - $0.ok } }
  var messageCount: Int { counts.withLock(\.messages) }

  func callStarted(_ call: ObservedCall) -> (any Sendable)? {
    counts.withLock { counts in
      counts.started += 1
      counts.open.insert(counts.started)
      return counts.started
    }
  }

  func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {
    counts.withLock { counts in
      guard let number = token as? Int, counts.open.remove(number) != nil else {
        counts.violation = Violation("a call ends twice")
        return
      }
      if end.status.isOk { counts.ok += 1 }
      counts.messages += end.received.messages
    }
  }

  func check() throws {
    try counts.withLock { counts in
      if let violation = counts.violation { throw violation }
      try Violation.unless(counts.open.isEmpty, "\(counts.open.count) calls have no end")
    }
  }
}

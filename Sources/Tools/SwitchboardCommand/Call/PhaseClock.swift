import Switchboard

/// Records when each phase of a call ends, for `--verbose`.
final class PhaseClock: Sendable {
  private struct Mark: Sendable {
    let name: String
    let detail: String
    let time: ContinuousClock.Instant
  }

  private struct State: Sendable {
    var start = ContinuousClock.now
    var marks: [Mark] = []
  }

  private let state = Locked(State())

  /// Records a phase of connecting.
  func note(_ phase: ConnectionPhase) {
    switch phase {
    case .lookedUp(let addresses):
      let more = addresses.count > 4 ? " and \(addresses.count - 4) more" : ""
      note("name", addresses.prefix(4).joined(separator: ", ") + more)
    case .connected(let address): note("connect", address)
    case .secured(let suite): note("TLS", suite)
    case .ready: note("HTTP/2", "the server's settings")
    }
  }

  /// Records a phase that has just ended.
  func note(_ name: String, _ detail: String) {
    let now = ContinuousClock.now
    state.withLock { state in
      // Limited, because a channel may reconnect any number of times.
      if state.marks.count < 200 { state.marks.append(Mark(name: name, detail: detail, time: now)) }
    }
  }

  /// A line for each phase, with its duration.
  var lines: [ShownText] {
    let state = state.withLock { $0 }
    var last = state.start
    var lines: [ShownText] = []
    for mark in state.marks {
      let took = (mark.time - last).shown
      last = mark.time
      let name = mark.name + String(repeating: " ", count: max(0, 12 - mark.name.count))
      lines.append(
        "* \(name) \(String(repeating: " ", count: max(0, 10 - took.count)))\(took)  \(mark.detail)"
      )
    }
    let total = (last - state.start).shown
    lines.append("* total        \(String(repeating: " ", count: max(0, 10 - total.count)))\(total)")
    return lines
  }
}

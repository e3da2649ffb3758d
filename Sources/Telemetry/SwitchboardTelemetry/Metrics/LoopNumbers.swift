import SwitchboardCall

/// Assigns each loop that counts calls a number while it needs one, so that no two loops count in the same part of a
/// meter. Numbers are reused, so there are only as many as there were loops at the same time.
final class LoopNumbers: Sendable {
  private struct Entry: Sendable {
    weak var number: LoopNumber?
  }

  private struct State: Sendable {
    var entries: [ObjectIdentifier: Entry] = [:]
    var free: [Int] = []
    var count = 0
  }

  private let state = Locked(State())

  func number(of loop: any EventLoop) -> LoopNumber {
    let id = ObjectIdentifier(loop)
    return state.withLock { state in
      if let known = state.entries[id]?.number { return known }
      let value = state.free.popLast() ?? state.count
      state.count = max(state.count, value + 1)
      let number = LoopNumber(value, id, self)
      state.entries[id] = Entry(number: number)
      return number
    }
  }

  fileprivate func giveBack(_ value: Int, of id: ObjectIdentifier) {
    state.withLock { state in
      state.free.append(value)
      // The loop may have got another number in the meantime.
      if let entry = state.entries[id], entry.number == nil { state.entries[id] = nil }
    }
  }
}

/// The number of a loop. The counters of the loop retain it.
final class LoopNumber: Sendable {
  let value: Int
  private let id: ObjectIdentifier
  private let owner: LoopNumbers

  fileprivate init(_ value: Int, _ id: ObjectIdentifier, _ owner: LoopNumbers) {
    self.value = value
    self.id = id
    self.owner = owner
  }

  deinit { owner.giveBack(value, of: id) }
}

import CLibuv
import Foundation
import SwitchboardCall
import TestSupport

/// A relay between a client and a server, which a test can stall, cut and restore, or stop at one point of a call. It
/// runs on its own thread until it is stopped.
final class Relay: Sendable {
  private enum Condition {
    case fine
    /// Forwards nothing, without an error.
    case stalled
    /// Breaks connections and refuses new ones.
    case cut
  }

  private struct State {
    var condition = Condition.fine
    var server: Int
    var gate: Gate?
    var isStopped = false
    var heldLinks = 0
    var waiters: [(Int, CheckedContinuation<Void, Never>)] = []
    /// Callers that wait until their change takes effect.
    var changers: [CheckedContinuation<Void, Never>] = []
  }

  let port: Int
  private let listener: Int32
  private let wake: Int32
  private let woken: Int32
  private let state: Locked<State>

  /// Forwards to a server on a local port.
  init(to server: Int, gate: Gate? = nil) throws {
    (listener, port) = try LoopbackSocket.listening()
    let ends = try SocketPair()
    (woken, wake) = (ends.near, ends.far)
    state = Locked(State(server: server, gate: gate))
    Thread { self.run() }.start()
  }

  // Another thread writes to the one descriptor to stop the relay, possibly after its thread has ended. The descriptor
  // must stay open until then, because its number could be reused.
  deinit { for descriptor in [wake, woken] { close(descriptor) } }

  // MARK: Control

  /// Stops forwarding, without an error.
  func stall() async { await change { $0.condition = .stalled } }

  /// Breaks all connections and refuses new ones.
  func cut() async { await change { $0.condition = .cut } }

  /// Forwards again, including connections at the gate.
  func heal() async {
    await change {
      $0.condition = .fine
      $0.gate = nil
    }
  }

  /// Connects further connections to another port.
  func lead(to server: Int) async { await change { $0.server = server } }

  func stop() {
    state.withLock { $0.isStopped = true }
    wakeUp()
  }

  /// Returns once this many connections have reached the gate.
  func untilHeld(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.heldLinks < count { state.waiters.append((count, continuation)) }
        return state.heldLinks >= count
      }
      if isThere { continuation.resume() }
    }
  }

  /// Returns once the change has taken effect.
  private func change(_ body: (inout State) -> Void) async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        body(&state)
        state.changers.append(continuation)
      }
      wakeUp()
    }
  }

  private func wakeUp() { _ = write(wake, [0], 1) }

  // MARK: Relay thread

  private func run() {
    var links: [RelayLink] = []
    while let state = next(links) {
      if state.gate == nil { for link in links where link.isHeld { link.release() } }
      if state.condition == .cut {
        for link in links { link.close(abruptly: true) }
        links = []
      }
      for changer in state.changers { changer.resume() }
      let isStalled = state.condition == .stalled
      var polls = [pollfd(fd: woken, events: Int16(POLLIN), revents: 0)]
      polls.append(pollfd(fd: isStalled ? -1 : listener, events: Int16(POLLIN), revents: 0))
      for link in links { polls += link.interests(stalled: isStalled) }
      guard poll(&polls, UInt(polls.count), -1) >= 0 || errno == EINTR else { break }
      if polls[0].revents != 0 { drainWakes() }
      guard !isStalled else { continue }
      links = carry(links, polls)
      if polls[1].revents != 0, let link = accept(state) { links.append(link) }
    }
    for link in links { link.close(abruptly: false) }
    close(listener)
    release(Int.max)
  }

  /// The current state; `nil` at the end. Reports the connections at the gate to its waiters.
  private func next(_ links: [RelayLink]) -> State? {
    release(links.count(where: \.isHeld))
    return state.withLock { state in
      guard !state.isStopped else { return nil }
      defer { state.changers = [] }
      return state
    }
  }

  private func release(_ held: Int) {
    let due = state.withLock { state in
      state.heldLinks = held
      defer { state.waiters.removeAll { $0.0 <= held } }
      return state.waiters.filter { $0.0 <= held }
    }
    for (_, waiter) in due { waiter.resume() }
  }

  private func carry(_ links: [RelayLink], _ polls: [pollfd]) -> [RelayLink] {
    var kept: [RelayLink] = []
    for (index, link) in links.enumerated() {
      if link.carry(polls[(2 + 4 * index)..<(6 + 4 * index)]) {
        kept.append(link)
      } else {
        link.close(abruptly: false)
      }
    }
    return kept
  }

  private func accept(_ state: State) -> RelayLink? {
    // Child processes started at this moment must not inherit it.
    let client = switchboard_accept(listener, nil, nil)
    guard client >= 0 else { return nil }
    guard state.condition == .fine, let server = try? LoopbackSocket.connected(to: state.server) else {
      Self.closeAbruptly(client)
      return nil
    }
    return RelayLink(client: client, server: server, gate: state.gate)
  }

  private func drainWakes() {
    var bytes = [UInt8](repeating: 0, count: 64)
    _ = read(woken, &bytes, bytes.count)
  }

  static func closeAbruptly(_ descriptor: Int32) {
    var atOnce = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &atOnce, socklen_t(MemoryLayout<linger>.size))
    close(descriptor)
  }
}

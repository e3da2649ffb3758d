import Switchboard
import SwitchboardDynamic
import SwitchboardText

/// Watches the attempts of one method's calls, for `--verbose`: a service config may have calls repeated or hedged, and
/// the status of the last attempt is all that the caller sees otherwise.
final class AttemptWatch: CallObserver {
  private struct State: Sendable {
    /// The path of the method, with a leading slash. Calls before it is known are those for descriptors.
    var path: String?
    var count = 0
    /// The numbers of the attempts that have not ended.
    var running: [Int] = []
    /// The last attempt that has ended.
    var ended: (number: Int, status: GRPCStatus)?
  }

  private let clock: PhaseClock
  private let state = Locked(State())

  init(_ clock: PhaseClock) { self.clock = clock }

  /// Watches this method from now on.
  func follow(_ method: SchemaMethod) { state.withLock { $0.path = "/\(method.path)" } }

  /// How many attempts have begun.
  var count: Int { state.withLock { $0.count } }

  func callStarted(_ call: ObservedCall) -> (any Sendable)? {
    let (number, reason): (Int, String?) = state.withLock { state in
      guard let path = state.path, call.method.path.isExactly(path) else { return (0, nil) }
      state.count += 1
      defer { state.running.append(state.count) }
      return (state.count, Self.reason(state))
    }
    guard number > 0 else { return nil }
    if let reason { clock.note("attempt \(number)", reason) }
    return number
  }

  func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {
    guard let number = token as? Int else { return }
    state.withLock { state in
      state.running.removeAll { $0 == number }
      state.ended = (number, end.status)
    }
  }

  /// Why another attempt begins; nil for the first.
  private static func reason(_ state: State) -> String? {
    if let number = state.running.last { return "hedging: attempt \(number) has not ended" }
    return state.ended.map { "after \($0.status.code.specName)\($0.status.message.map { ": \($0)" } ?? "")" }
  }
}

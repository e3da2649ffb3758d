import SwitchboardNetwork

/// The timers of a call on the server.
///
/// ```
///   request: off ──it is waited for──> on ──it is whole, or late──> off
///   call:    off ──its deadline, or a page to be read──> on ──it passes──> on, for the last bytes ──they take too long──> off
/// ```
struct ServerCallTimers {
  private var request: LoopTimer?
  private var call: LoopTimer?

  /// Whether the time for the request is limited.
  var limitsRequest: Bool { request != nil }

  mutating func limitRequest(_ timer: LoopTimer, to limit: Duration, on loop: Loop) {
    request = timer
    loop.schedule(timer, after: limit)
  }

  mutating func requestIsLate() { request = nil }

  @inline(__always)
  mutating func stopLimitingRequest(on loop: Loop) {
    guard let timer = request else { return }
    loop.cancel(timer)
    request = nil
  }

  /// Replaces a timer that has fired.
  mutating func limitCall(_ timer: LoopTimer, to limit: Duration, on loop: Loop) {
    call = timer
    loop.schedule(timer, after: limit)
  }

  mutating func callIsLate() { call = nil }

  @inline(__always)
  mutating func cancel(on loop: Loop) {
    stopLimitingRequest(on: loop)
    guard let timer = call else { return }
    loop.cancel(timer)
    call = nil
  }
}

import SwitchboardBalancing
import SwitchboardCall

/// The calls of a channel that wait: those for which no server was chosen are here, the others at their servers.
///
/// ```
///   ──admit──> waiting ──its server has room, it ends, or the picker is asked again──> gone
/// ```
struct WaitingRoom {
  /// How many calls wait, here or at a server.
  private(set) var count = 0
  private var calls = WaitingCalls()
  /// Whether some of the calls here fail while no server can be reached.
  private var hasFailFastCalls = false
  private var keepsLoop = false

  /// Those that wait here.
  var all: [ClientCallStream] { calls.all }

  /// Counts one more call. Throws if too many wait.
  mutating func admit(limit: Int) throws(GRPCStatus) {
    guard count < limit else { throw .tooManyWaitingCalls }
    count += 1
  }

  /// Some do not wait anymore.
  mutating func leave(_ number: Int) { count -= number }

  /// Keeps the loop running while calls wait, or their service config is awaited: between two attempts to connect, or to
  /// resolve the name, nothing else is open. Returns how many more handles of the loop are open now.
  mutating func keepLoop(awaitsConfig: @autoclosure () -> Bool) -> Int {
    guard keepsLoop != (count > 0 || awaitsConfig()) else { return 0 }
    keepsLoop.toggle()
    return keepsLoop ? 1 : -1
  }

  /// A call that may fail is about to wait here.
  mutating func mayFailFast() { hasFailFastCalls = true }

  /// Keeps a call that was admitted, until the picker is asked again.
  mutating func append(_ call: ClientCallStream, awaitingName: Bool) {
    calls.append(call, awaitingName: awaitingName)
  }

  /// A call has ended while it waited here.
  mutating func callDidEnd() { calls.callDidEnd() }

  /// Removes and returns the calls for which the picker is to be asked again: none if its answer is known.
  mutating func takeForRetry(_ picker: any Picker, nameIsResolved: Bool) -> [ClientCallStream] {
    guard !calls.isEmpty else { return [] }
    if nameIsResolved { calls.nameWasResolved() }
    if let picker = picker as? ConstantPicker {
      // Otherwise, each failure of one of many servers would cost time in proportion to the number of calls.
      if picker.waits || picker.fails && !hasFailFastCalls { return [] }
    }
    hasFailFastCalls = false
    let taken = calls.take()
    count -= taken.count
    return taken
  }
}

// unsafe: header bytes that the session lends for one callback

import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// The server that a client's call was assigned to, and what the policy wants to know of the call there.
///
/// ```
///   none ──a server is picked──> assigned ──the call ends, or was never sent──> none
/// ```
struct AssignedServer {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  private(set) var subchannel: HTTP2Subchannel?
  /// The policy's tracker for the call.
  private(set) var tracker: (any LoadTracker)?
  /// The load report in the trailers, if the tracker wants it.
  private var loadReport: [UInt8]?

  mutating func assign(_ subchannel: HTTP2Subchannel, _ tracker: (any LoadTracker)?) {
    self.subchannel = subchannel
    self.tracker = tracker
  }

  /// Notes a field of the response, if it is the report.
  @inline(__always)
  mutating func noteReport(_ name: Bytes, _ value: Bytes) {
    if let tracker, tracker.wantsLoadReport, name.equals(LoadReportMessages.trailer) {
      loadReport = Base64.decode(value)
    }
  }

  /// Forgets the server. Returns the tracker, which is to learn of the end.
  mutating func leave() -> (any LoadTracker)? {
    subchannel = nil
    return tracker.take()
  }

  /// What the tracker learns of the call; without a status, it was never sent.
  func outcome(_ status: GRPCStatus?) -> CallOutcome {
    var outcome = CallOutcome(status: status)
    if let loadReport { outcome.loadReport = LoadReport(serializedBytes: loadReport) }
    return outcome
  }
}

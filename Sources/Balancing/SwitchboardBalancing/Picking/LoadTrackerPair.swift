/// Tells two trackers of the end of a call, one after the other.
package final class LoadTrackerPair: LoadTracker {
  private let first: any LoadTracker
  package let second: any LoadTracker

  package init(_ first: any LoadTracker, _ second: any LoadTracker) {
    self.first = first
    self.second = second
  }

  package var wantsLoadReport: Bool { first.wantsLoadReport || second.wantsLoadReport }

  package func callEnded(_ outcome: CallOutcome) {
    first.callEnded(outcome)
    second.callEnded(outcome)
  }
}

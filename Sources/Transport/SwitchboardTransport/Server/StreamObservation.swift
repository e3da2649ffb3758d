import SwitchboardCall

/// The observer of a stream, and the end of the call, for an observer that comes after it.
///
/// ```
///   open ──an observer comes──> observed ──the end──> over: the observer learns of it, once
///     └──the end──> over: an observer learns of it when it comes
/// ```
struct StreamObservation {
  private(set) var observer: (any ServerStreamObserver)?
  /// Whether the observer is notified of what was sent.
  private(set) var reportsSent = false
  private var isOver = false
  /// The failure with which the call ended.
  private(set) var failure: GRPCStatus?

  /// Returns `false` if the call is over.
  mutating func add(_ observer: any ServerStreamObserver, sent: Bool) -> Bool {
    guard !isOver else { return false }
    self.observer = observer
    if sent { reportsSent = true }
    return true
  }

  /// Returns the observer that is to learn of the end; `nil` if there is none, or it knows.
  mutating func end(_ failure: GRPCStatus?) -> (any ServerStreamObserver)? {
    guard !isOver else { return nil }
    isOver = true
    self.failure = failure
    return observer.take()
  }
}

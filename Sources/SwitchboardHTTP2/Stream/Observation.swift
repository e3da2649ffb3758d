import SwitchboardCall

/// One call as its observer sees it, between its beginning and its end.
struct Observation {
  private let observer: any CallObserver
  private let call: ObservedCall
  private let token: (any Sendable)?

  init(_ observer: any CallObserver, _ call: ObservedCall) {
    self.observer = observer
    self.call = call
    token = observer.callStarted(call)
  }

  func end(_ status: GRPCStatus) { observer.callEnded(call, status, token) }
}

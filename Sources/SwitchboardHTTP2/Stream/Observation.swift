import SwitchboardCall

/// A call for its observer, from its start to its end.
struct Observation {
  private let observer: any CallObserver
  private let call: ObservedCall
  private let token: (any Sendable)?

  var isServer: Bool { call.isServer }

  init(_ observer: any CallObserver, _ call: ObservedCall) {
    self.observer = observer
    self.call = call
    token = observer.callStarted(call)
  }

  func end(_ status: GRPCStatus, sent: MessageTotals, received: MessageTotals) {
    observer.callEnded(call, ObservedEnd(status: status, sent: sent, received: received), token)
  }
}

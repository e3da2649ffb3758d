import SwitchboardBalancing
import SwitchboardCall

/// The server that a call is placed on.
extension ClientCallStream {
  /// Whether an earlier attempt of the same call was sent to the server.
  func wasSent(to subchannel: HTTP2Subchannel) -> Bool {
    request.servers?.contains(ObjectIdentifier(subchannel)) ?? false
  }

  /// A server was chosen.
  func place(on subchannel: HTTP2Subchannel, _ tracker: (any CallTracker)?) {
    self.subchannel = subchannel
    self.tracker = tracker
  }

  /// The call no longer belongs to the server that was chosen, which never got it.
  private func displace() {
    tracker?.callEnded(CallOutcome(status: nil))
    tracker = nil
    subchannel = nil
  }

  /// Asks for a server again, unless the end of another call that was placed has ended this one.
  func placeAgain() {
    guard isStarted else { return }
    displace()
    dispatch()
  }

  /// Starts a stream that is not a call of the channel's, on a connection that has been chosen.
  func start(on subchannel: HTTP2Subchannel, _ connection: ClientConnection) {
    phase = .started
    isCounted = false
    self.subchannel = subchannel
    flow?.pipe.attach(self)
    open(on: connection)
  }

  /// Tells the server's policy how the call ended.
  func leave(_ status: GRPCStatus) {
    guard let subchannel else { return }
    self.subchannel = nil
    if connection != nil, isCounted { subchannel.callEnded(status) }
    guard let tracker else { return }
    self.tracker = nil
    var outcome = CallOutcome(status: connection == nil ? nil : status)
    if let loadReport { outcome.loadReport = LoadReport(serializedBytes: loadReport) }
    tracker.callEnded(outcome)
  }
}

extension ClientCallStream {
  /// Whether the deadline has passed, although its timer has not run yet: the server may look at its clock first.
  var hasNoTimeLeft: Bool { request.deadline.map { $0.timeLeft <= .zero } ?? false }
}

extension ClientCallStream: CallToPick {
  var method: MethodDescriptor { request.method }
  var metadata: HPACKHeaders { request.options?.initialMetadata ?? HPACKHeaders() }
}

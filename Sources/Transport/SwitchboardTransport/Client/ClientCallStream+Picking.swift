import SwitchboardBalancing
import SwitchboardCall

/// The server that a call is assigned to.
extension ClientCallStream {
  /// Whether an earlier attempt of the same call was sent to the server.
  func wasSent(to subchannel: HTTP2Subchannel) -> Bool {
    request.servers?.contains(ObjectIdentifier(subchannel)) ?? false
  }

  /// A server was chosen.
  func assign(to subchannel: HTTP2Subchannel, _ tracker: (any LoadTracker)?) {
    server.assign(subchannel, tracker)
    if subchannel.hasLabels || trace.wantsServer, let attempt = attemptTracer {
      startTracing(attempt.serverPicked(subchannel.shown, subchannel.options.metricLabels))
    }
  }

  /// Whether the call waits at the chosen server, which is connecting. It does so if it belongs to a session: no other picker would
  /// choose another server, and asking each one for all such calls would take time that grows with the square of their number.
  func waits(at subchannel: HTTP2Subchannel) -> Bool {
    subchannel.state.connectivity == .connecting && route?.session != nil
  }

  /// Detaches the call from the chosen server, to which it was never sent.
  private func unassign() {
    let tracker = server.leave()
    tracker?.callEnded(CallOutcome(status: nil))
  }

  /// Requests a server again, unless the call has ended in the meantime.
  func pickAgain() {
    guard isStarted else { return }
    unassign()
    dispatch()
  }

  /// Starts a stream that is not one of the channel's calls, on a given connection.
  func start(on subchannel: HTTP2Subchannel, _ connection: ClientConnection) {
    phase = .started
    isCounted = false
    server.assign(subchannel, nil)
    flow?.pipe.attach(self)
    open(on: connection)
  }

  /// Reports the end of the call to the policy's tracker.
  func leave(_ status: GRPCStatus) {
    guard let subchannel = server.subchannel else { return }
    let tracker = server.leave()
    if connection != nil, isCounted { subchannel.callEnded(status) }
    tracker?.callEnded(server.outcome(connection == nil ? nil : status))
  }
}

extension ClientCallStream {
  /// Whether the deadline has passed. Its timer may not have fired yet, because the server may notice the deadline
  /// first.
  var hasNoTimeLeft: Bool { request.deadline.map { $0.timeLeft(by: channel.loop.clock) <= .zero } ?? false }
}

extension ClientCallStream: CallToPick {
  var waitsForReady: Bool { request.options?.chosenWaitForReady ?? channel.options.waitForReady }
  var method: MethodDescriptor { request.method }
  var metadata: HPACKHeaders { request.options?.initialMetadata ?? HPACKHeaders() }
  var route: CallRoute? { request.route }
}

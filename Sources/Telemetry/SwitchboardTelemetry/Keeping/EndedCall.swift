import SwitchboardCall

/// A call that has ended, as its telemetry knows it.
package struct EndedCall: Sendable {
  /// An attempt of a client's call.
  package struct Attempt: Sendable {
    /// When it began, and when a server was chosen for it, after so many nanoseconds of the call.
    package var start: Int
    package var picked: Int?
    package var duration: Int
    /// The server; empty for an attempt without one.
    package var server: String
    package var code: GRPCStatus.Code
    /// Whether the transport sent it again, because no server had processed it.
    package var wasSentAgain: Bool
  }

  package let called: CalledMethod
  /// When it began, on the clock of calls. This names it, too: no two calls begin at once, or hardly any.
  package let start: UInt64
  /// The same in nanoseconds since 1970.
  package let date: UInt64
  /// In nanoseconds.
  package let duration: Int
  /// Whether somebody looked when it began, so that more is known of it.
  package let isTimed: Bool
  package private(set) var status: GRPCStatus
  package let sent: MessageTotals
  package let received: MessageTotals
  /// The client of a server's call.
  package internal(set) var peer: String = ""
  /// The metadata of the request; `nil` if the call did not get that far.
  package internal(set) var headers: HPACKHeaders?
  /// The call's span, recorded or not.
  package internal(set) var identity: SpanIdentity = SpanIdentity()
  /// The attempts of a client's call, the first few of many.
  package internal(set) var attempts: [Attempt] = []
  /// When the name was resolved that the call waited for, after so many nanoseconds.
  package internal(set) var resolved: Int?
  package internal(set) var timeline: CallTimeline?

  init(
    _ called: CalledMethod,
    _ end: ObservedEnd,
    start: UInt64,
    date: UInt64,
    duration: Int,
    isTimed: Bool
  ) {
    self.isTimed = isTimed
    self.called = called
    self.start = start
    self.date = date
    self.duration = duration
    (status, sent, received) = (end.status, end.sent, end.received)
  }
}

/// Keeps calls that are worth a look.
package protocol CallKeeper: AnyObject, Sendable {
  /// A call has ended that is slower than most, that has failed, or that has a timeline. On the call's loop.
  func keep(_ call: EndedCall)
}

extension EndedCall {
  /// The same without the metadata and the timeline, and with shorter addresses, to be kept.
  package func trimmed(_ addressLength: Int) -> EndedCall {
    var call = self
    (call.headers, call.timeline) = (nil, nil)
    call.peer = call.peer.limited(to: addressLength)
    call.attempts = call.attempts.map { attempt in
      var attempt = attempt
      attempt.server = attempt.server.limited(to: addressLength)
      return attempt
    }
    call.status = GRPCStatus(code: status.code)
    return call
  }
}

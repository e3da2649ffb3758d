import SwitchboardCall

extension AttemptTracer {
  /// Adds all headers of the attempt.
  func writeAllHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void) {
    if let identity = traceParent(stamp) { add("traceparent", identity.text.span.bytes) }
    if addsHeaders { writeHeaders(stamp, add) }
  }
}

/// Lets a plain observer follow a call: it sees each attempt as one.
final class PlainTracer: AttemptTracer {
  private let observer: any CallObserver
  private let call: ObservedCall
  private let token: (any Sendable)?

  init(_ observer: any CallObserver, _ call: ObservedCall) {
    self.observer = observer
    self.call = call
    token = observer.callStarted(call)
  }

  var wantsMessages: Bool { false }
  var addsHeaders: Bool { false }
  func traceParent(_ stamp: CallStamp) -> SpanIdentity? { nil }
  func messageSent(_ byteCount: Int, compressed: Int?) {}
  func messageReceived(_ byteCount: Int) {}
  func writeHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void) {}
  func pickWasDelayed() {}
  func serverPicked(_ name: String, _ labels: [String: String]) -> any AttemptTracer { self }
  func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer { self }
  func ended(_ end: ObservedEnd, _ stamp: CallStamp) { observer.callEnded(call, end, token) }
}

// unsafe: what follows a call is confined to the call's loop
// trap: unowned: the requests of its calls retain the channel's telemetry

import SwitchboardCall
import SwitchboardText

/// Follows the calls that need no object of their own.
extension ChannelTelemetry: ClientCallTracer {
  func made(_ call: any ByteCall) {}

  func mayRepeat(_ request: CallRequest, hedging: Bool) -> any ClientCallTracer {
    ClientCall(self, request, SpanContext(request.stamp)).mayRepeat(request, hedging: hedging)
  }

  func resolutionWasDelayed() {}

  func attemptStarts(_ method: MethodDescriptor, after previousAttempts: Int) -> (any AttemptTracer)? {
    let known = known(method)
    known._withUnsafeGuaranteedRef { $0.counter.callStarted() }
    return isLean ? nil : known.takeUnretainedValue()
  }

  func tracer(ofAttempt method: MethodDescriptor) -> any AttemptTracer { self.method(method) }

  func attemptEnded(
    _ end: ObservedEnd,
    _ method: MethodDescriptor,
    _ stamp: CallStamp,
    at server: @autoclosure () -> String,
    _ headers: @autoclosure () -> HPACKHeaders?
  ) {
    known(method)._withUnsafeGuaranteedRef { $0.ended(end, stamp, at: server, headers) }
  }

  func ended(_ status: GRPCStatus, _ method: MethodDescriptor, _ stamp: CallStamp) {
    let counter = self.method(method).counter
    let duration = TelemetryClock.duration(from: stamp.start, to: parts.clock.mark)
    counter.wholeCallEnded(status.code, duration, nil)
    let end = ObservedEnd(status: status, sent: MessageTotals(), received: MessageTotals())
    if counter.called.isNotable(status.code, duration) {
      parts.keep(counter.called, end, duration, since: stamp.start, isTimed: false) {
        $0.identity = stamp.identity
      }
    }
  }
}

/// Follows the attempts of one method's calls that need no object. Each is the only attempt of its call.
final class ChannelMethod: AttemptTracer {
  private unowned let channel: ChannelTelemetry
  private let method: MethodDescriptor
  private let clock: TelemetryClock
  private let addsTraceParent: Bool
  let addsHeaders: Bool
  let counter: LoopCounter

  /// `channel` retains this object, and the requests of the calls retain `channel`.
  init(_ channel: ChannelTelemetry, _ method: MethodDescriptor, _ counter: LoopCounter) {
    self.channel = channel
    self.method = method
    clock = channel.parts.clock
    let isTraced = channel.parts.tracer != nil
    addsTraceParent = isTraced && channel.parts.writesTraceParent
    addsHeaders = isTraced && channel.parts.writesTraceBin
    self.counter = counter
  }

  var wantsMessages: Bool { false }
  func messageSent(_ byteCount: Int, compressed: Int?) {}
  func messageReceived(_ byteCount: Int) {}

  func traceParent(_ stamp: CallStamp) -> SpanIdentity? { addsTraceParent ? stamp.identity : nil }

  func writeHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void) {
    guard let context = SpanContext(stamp) else { return }
    add("grpc-trace-bin", Base64.encode(TraceBin.bytes(context)).span.bytes)
  }

  func pickWasDelayed() {}

  func serverPicked(_ name: String, _ labels: [String: String]) -> any AttemptTracer {
    channel.counter(of: method, at: labels).map { LabelledAttempts(self, $0, name) } ?? self
  }

  func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer {
    ClientCall(channel, method, stamp, SpanContext(stamp), headers: nil).firstIsSentAgain()
  }

  func ended(_ end: ObservedEnd, _ stamp: CallStamp) { ended(end, stamp, at: { "" }, { nil }) }

  @inline(__always)
  fileprivate func ended(
    _ end: ObservedEnd,
    _ stamp: CallStamp,
    at server: () -> String,
    _ headers: () -> HPACKHeaders?
  ) {
    guard counter.isShown else { return }
    let duration = TelemetryClock.duration(from: stamp.start, to: clock.mark)
    counter.callEnded(CallMeter.End(end, duration, nil), whole: duration)
    if counter.called.isNotable(end.status.code, duration) { keep(end, stamp, duration, server, headers) }
  }

  /// A call has ended that may be worth a look, with its only attempt.
  @inline(never)
  private func keep(
    _ end: ObservedEnd,
    _ stamp: CallStamp,
    _ duration: Int,
    _ server: () -> String,
    _ headers: () -> HPACKHeaders?
  ) {
    channel.parts.keep(counter.called, end, duration, since: stamp.start, isTimed: false) { call in
      call.headers = headers()
      call.identity = stamp.identity
      call.attempts = [
        EndedCall.Attempt(
          start: 0,
          picked: nil,
          duration: duration,
          server: server(),
          code: end.status.code,
          wasSentAgain: false
        )
      ]
    }
  }

  /// Ends an attempt that `attempts` counts, while the call counts here.
  fileprivate func ended(_ end: ObservedEnd, _ stamp: CallStamp, in attempts: LoopCounter, at server: String)
  {
    let duration = TelemetryClock.duration(from: stamp.start, to: clock.mark)
    attempts.callEnded(CallMeter.End(end, duration, nil), whole: nil)
    counter.wholeCallEnded(end.status.code, duration, nil)
    if counter.called.isNotable(end.status.code, duration) { keep(end, stamp, duration, { server }, { nil }) }
  }
}

/// Follows an attempt of such a call that goes to a server with labels.
private final class LabelledAttempts: AttemptTracer {
  private let method: ChannelMethod
  private let counter: LoopCounter
  private let server: String

  init(_ method: ChannelMethod, _ counter: LoopCounter, _ server: String) {
    self.method = method
    self.counter = counter
    self.server = server
  }

  var addsHeaders: Bool { method.addsHeaders }
  var wantsMessages: Bool { false }
  func messageSent(_ byteCount: Int, compressed: Int?) {}
  func messageReceived(_ byteCount: Int) {}
  func traceParent(_ stamp: CallStamp) -> SpanIdentity? { method.traceParent(stamp) }
  func writeHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void) {
    method.writeHeaders(stamp, add)
  }
  func pickWasDelayed() {}
  func serverPicked(_ name: String, _ labels: [String: String]) -> any AttemptTracer {
    method.serverPicked(name, labels)
  }
  func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer { method.isSentAgain(stamp) }
  func ended(_ end: ObservedEnd, _ stamp: CallStamp) { method.ended(end, stamp, in: counter, at: server) }
}

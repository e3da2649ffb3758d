// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall
import SwitchboardText

/// The state of one attempt of a call.
struct Attempt {
  /// When the attempt started, as a mark of the clock.
  let start: UInt64
  private(set) var span: Span?
  /// Counts the attempt, if the call's own counter does not.
  private(set) var counter: LoopCounter?
  /// The server that it was sent to, once one was chosen, and when that was.
  private(set) var server = ""
  private(set) var picked: UInt64?
  private var sentCount = 0
  private var receivedCount = 0

  init(start: UInt64) {
    self.start = start
  }

  var context: SpanContext? { span?.context }

  mutating func begin(_ call: ClientCall, previousAttempts: Int, isTransparent: Bool) {
    guard let tracer = call.parts.tracer, let parent = call.span?.context else { return }
    let span = Span(
      "Attempt.\(call.method.spanName)",
      parent.child(tracer.ids.spanID(), isSampled: true),
      parent: parent.identity,
      kind: .internal,
      start: tracer.clock.now,
      tracer
    )
    span.set("previous-rpc-attempts", .int(previousAttempts))
    span.set("transparent-retry", .bool(isTransparent))
    self.span = span
  }

  /// If the call is not recorded, all its attempts carry the identity of the call.
  func traceParent(of call: ClientCall) -> SpanIdentity? {
    call.parts.writesTraceParent ? (context ?? call.context)?.identity : nil
  }

  func writeHeaders(of call: ClientCall, _ add: (StaticString, RawSpan) -> Void) {
    guard let context = context ?? call.context else { return }
    if call.parts.writesTraceParent, !context.traceState.isEmpty {
      add("tracestate", Array(context.traceState.utf8).span.bytes)
    }
    if call.parts.writesTraceBin {
      add("grpc-trace-bin", Base64.encode(TraceBin.bytes(context)).span.bytes)
    }
  }

  func pickWasDelayed() { span?.addEvent("Delayed LB pick complete") }

  mutating func serverPicked(_ name: String, _ labels: [String: String], _ call: ClientCall) {
    server = name
    picked = call.parts.clock.mark
    counter = call.channel.counter(of: call.method, at: labels)
  }

  mutating func messageSent(_ byteCount: Int, _ compressed: Int?) {
    span?.noteMessage("Outbound message", sentCount, byteCount, compressed: compressed)
    sentCount += 1
  }

  mutating func messageReceived(_ byteCount: Int) {
    span?.noteMessage("Inbound message", receivedCount, byteCount)
    receivedCount += 1
  }
}

/// Follows one attempt of a call: `ClientCall` the first, `LaterAttempt` any other.
protocol CallAttempt: AttemptTracer {
  var call: ClientCall { get }
  var attempt: Attempt { get set }
}

extension CallAttempt {
  func traceParent(_ stamp: CallStamp) -> SpanIdentity? { attempt.traceParent(of: call) }

  var addsHeaders: Bool {
    call.context.map { call.parts.writesTraceBin || !$0.traceState.isEmpty } ?? false
  }

  func writeHeaders(_ stamp: CallStamp, _ add: (StaticString, RawSpan) -> Void) {
    attempt.writeHeaders(of: call, add)
  }

  func pickWasDelayed() { attempt.pickWasDelayed() }

  func serverPicked(_ name: String, _ labels: [String: String]) -> any AttemptTracer {
    attempt.serverPicked(name, labels, call)
    return self
  }

  var wantsMessages: Bool { attempt.span != nil && call.parts.hasMessageEvents }

  func messageSent(_ byteCount: Int, compressed: Int?) { attempt.messageSent(byteCount, compressed) }

  func messageReceived(_ byteCount: Int) { attempt.messageReceived(byteCount) }

  func isSentAgain(_ stamp: CallStamp) -> any AttemptTracer {
    call.attemptEnded(attempt, .sentAgain, isSentAgain: true)
    return LaterAttempt(call, previousAttempts: 0, isTransparent: true)
  }

  func ended(_ end: ObservedEnd, _ stamp: CallStamp) { call.attemptEnded(attempt, end, isSentAgain: false) }
}

/// Follows an attempt of a call after the first.
final class LaterAttempt: CallAttempt, @unchecked Sendable {
  // Sendable because it is used on the call's loop only.
  let call: ClientCall
  var attempt: Attempt

  init(_ call: ClientCall, previousAttempts: Int, isTransparent: Bool) {
    self.call = call
    attempt = Attempt(start: call.parts.clock.mark)
    attempt.begin(call, previousAttempts: previousAttempts, isTransparent: isTransparent)
    call.attemptBegan(at: attempt.start, isTransparent: isTransparent)
  }
}

import SwitchboardCall

/// What follows an attempt of a client's call: a tracer of its own, or that of the call.
///
/// ```
///   not followed ──the attempt starts──> by the call's tracer, leanly ──a server with labels──> by its own tracer
///                         └──────────────────────────────────────────────────────────────────────^
/// ```
/// What the tracer wants is kept: to ask it each time would retain it.
struct AttemptTrace {
  /// What the watchdog of loops knows the call's work by.
  let mark: UInt
  /// The attempt's own tracer.
  private(set) var tracer: (any AttemptTracer)?
  private(set) var reportsMessages = false
  /// Whether to report which server was chosen.
  private(set) var wantsServer = false
  private(set) var addsHeaders = false
  private(set) var addsTraceParent = false
  /// Whether that header has the identity of the call's stamp.
  private var sendsStamp = false
  /// Whether the call's tracer follows the attempt.
  private(set) var isLean = false
  /// Whether the header `traceparent` is added when the others are sent.
  private var awaitsTraceParent = false

  init(mark: UInt = 0) { self.mark = mark }

  /// The attempt adds what the call's stamp says.
  @inline(__always)
  mutating func followStamp(_ stamp: CallStamp) {
    addsTraceParent = stamp.identity.span != 0
    sendsStamp = true
  }

  /// The call's tracer follows the attempt.
  @inline(__always)
  mutating func followLeanly(_ stamp: CallStamp) {
    isLean = true
    followStamp(stamp)
  }

  /// An observer that does not trace follows the attempt.
  mutating func follow(_ call: ObservedCall, for observer: any CallObserver) {
    tracer = PlainTracer(observer, call)
  }

  /// This tracer follows the attempt from now on.
  mutating func follow(_ tracer: consuming any AttemptTracer, _ stamp: CallStamp) {
    isLean = false
    wantsServer = true
    if stamp.isLean {
      followStamp(stamp)
    } else {
      addsHeaders = tracer.addsHeaders
      addsTraceParent = tracer.traceParent(stamp) != nil
      reportsMessages = tracer.wantsMessages
    }
    self.tracer = tracer
  }

  /// The tracer, which is to learn of the end.
  mutating func end() -> (any AttemptTracer)? { tracer.take() }

  // MARK: The header

  /// `traceparent` is added later, when the other headers are sent, if the connection can do so.
  mutating func announce(_ isAnnounced: Bool) { awaitsTraceParent = isAnnounced }

  /// The header that was announced, once.
  @inline(__always)
  mutating func takeTraceParent(_ stamp: CallStamp) -> SpanIdentity? {
    guard awaitsTraceParent else { return nil }
    awaitsTraceParent = false
    return traceParent(stamp)
  }

  /// The header, unless it comes later.
  @inline(__always)
  func traceParentNow(_ stamp: CallStamp) -> SpanIdentity? {
    awaitsTraceParent ? nil : traceParent(stamp)
  }

  @inline(__always)
  private func traceParent(_ stamp: CallStamp) -> SpanIdentity? {
    sendsStamp ? stamp.identity : tracer?.traceParent(stamp)
  }
}

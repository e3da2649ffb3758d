// unsafe: what follows a call is confined to the call's loop

import SwitchboardCall

/// Follows a call of a client and its first attempt, which is usually the only one.
final class ClientCall: ClientCallTracer, CallAttempt, @unchecked Sendable {
  // Sendable because mutable state is used on the call's loop only, or before the call is made.
  let channel: ChannelTelemetry
  let method: MethodDescriptor
  let context: SpanContext?
  let span: Span?
  private let served: ServerCall?
  /// When the call started, as a mark of the clock.
  private let start: UInt64
  /// The metadata that the call is made with.
  private let headers: HPACKHeaders?
  /// Whether the call is worth a look, however it ends.
  private let isTimed: Bool
  // Unchecked exclusivity: no access lasts while other code is called.
  @exclusivity(unchecked) private var mayRepeat = false
  @exclusivity(unchecked) private var isHedging = false
  /// The first attempt.
  @exclusivity(unchecked) var attempt: Attempt
  @exclusivity(unchecked) private var attemptCount = 0
  @exclusivity(unchecked) private var transparentCount = 0
  /// The number of attempts in progress, and since when there has been none.
  @exclusivity(unchecked) private var activeCount = 0
  @exclusivity(unchecked) private var idleSince: UInt64?
  @exclusivity(unchecked) private var delay: UInt64 = 0
  @exclusivity(unchecked) private var hasEnded = false
  /// When the name was resolved that the call waited for.
  @exclusivity(unchecked) private var resolved: UInt64?
  /// What has become of the attempts: of those that are worth a look.
  @exclusivity(unchecked) private var log = AttemptLog()

  convenience init(
    _ channel: ChannelTelemetry,
    _ request: CallRequest,
    _ context: SpanContext?,
    parent: SpanIdentity = .none,
    servedIn served: ServerCall? = nil,
    isTimed: Bool = false
  ) {
    self.init(
      channel,
      request.method,
      request.stamp,
      context,
      headers: request.options?.initialMetadata,
      parent: parent,
      servedIn: served,
      isTimed: isTimed
    )
  }

  init(
    _ channel: ChannelTelemetry,
    _ method: MethodDescriptor,
    _ stamp: CallStamp,
    _ context: SpanContext?,
    headers: HPACKHeaders?,
    parent: SpanIdentity = .none,
    servedIn served: ServerCall? = nil,
    isTimed: Bool = false
  ) {
    self.headers = headers
    self.isTimed = isTimed
    self.channel = channel
    self.method = method
    start = stamp.start
    self.served = served
    self.context = context
    attempt = Attempt(start: start)
    guard let tracer = channel.parts.tracer, let context, tracer.records(context.identity) else {
      span = nil
      return
    }
    let span = Span(
      "Sent.\(method.spanName)",
      context,
      parent: parent,
      kind: .client,
      start: tracer.clock.now,
      tracer
    )
    span.describe(method)
    span.set("server.address", .string(channel.target))
    self.span = span
  }

  var call: ClientCall { self }
  var parts: TelemetryParts { channel.parts }

  /// Counts the call. Use on the loop.
  private var counter: LoopCounter? {
    parts.clientMeters == nil ? nil : channel.method(method).counter
  }

  /// Whether the duration of the call is needed.
  private var needsDuration: Bool { parts.clientMeters != nil || span != nil }

  // MARK: The call

  func made(_ call: any ByteCall) { served?.add(call, for: self) }

  func mayRepeat(_ request: CallRequest, hedging: Bool) -> any ClientCallTracer {
    mayRepeat = true
    isHedging = hedging
    return self
  }

  func resolutionWasDelayed() {
    resolved = parts.clock.mark
    span?.addEvent("Delayed name resolution complete")
  }

  func attemptStarts(_ method: MethodDescriptor, after previousAttempts: Int) -> (any AttemptTracer)? {
    guard attemptCount > 0 else {
      // The clock has just been read.
      attempt.begin(self, previousAttempts: 0, isTransparent: false)
      attemptBegan(at: start)
      return self
    }
    return LaterAttempt(self, previousAttempts: previousAttempts, isTransparent: false)
  }

  /// Its attempts always have tracers: it is the first one's.
  func tracer(ofAttempt method: MethodDescriptor) -> any AttemptTracer { self }

  func attemptEnded(
    _ end: ObservedEnd,
    _ method: MethodDescriptor,
    _ stamp: CallStamp,
    at server: @autoclosure () -> String,
    _ headers: @autoclosure () -> HPACKHeaders?
  ) {
    ended(end, stamp)
  }

  /// Takes over a call that had no object until its first attempt was sent again.
  func firstIsSentAgain() -> any AttemptTracer {
    noteAttempt(at: start, isTransparent: false)
    return isSentAgain(CallStamp(start: start))
  }

  func attemptBegan(at time: UInt64, isTransparent: Bool = false) {
    counter?.callStarted()
    noteAttempt(at: time, isTransparent: isTransparent)
  }

  private func noteAttempt(at time: UInt64, isTransparent: Bool) {
    if isTransparent { transparentCount += 1 } else { attemptCount += 1 }
    activeCount += 1
    if let since = idleSince { delay &+= UInt64(TelemetryClock.duration(from: since, to: time)) }
    idleSince = nil
  }

  func attemptEnded(_ attempt: Attempt, _ end: ObservedEnd, isSentAgain: Bool) {
    let endsCall = !isSentAgain && !mayRepeat
    guard needsDuration else {
      if endsCall { finish(end.status, at: 0) }
      return
    }
    let now = parts.clock.mark
    activeCount -= 1
    if activeCount == 0 { idleSince = now }
    if let counter {
      let duration = TelemetryClock.duration(from: attempt.start, to: now)
      let exemplar = parts.clock.exemplar(duration, in: attempt.context ?? context)
      let attemptEnd = CallMeter.End(end, duration, exemplar)
      let whole = endsCall ? TelemetryClock.duration(from: start, to: now) : nil
      if let attempts = attempt.counter {
        attempts.callEnded(attemptEnd, whole: nil)
        if let whole { counter.wholeCallEnded(end.status.code, whole, exemplar) }
      } else {
        counter.callEnded(attemptEnd, whole: whole)
      }
    }
    log.add(attempt, end, since: start, to: now, isSentAgain: isSentAgain)
    let time = span == nil ? 0 : parts.clock.now
    attempt.span?.end(end.status, at: time)
    if endsCall {
      keep(end.status, at: now)
      finish(end.status, at: time)
    }
  }

  func ended(_ status: GRPCStatus, _ method: MethodDescriptor, _ stamp: CallStamp) {
    guard !hasEnded else { return }
    if let counter {
      let now = parts.clock.mark
      let duration = TelemetryClock.duration(from: start, to: now)
      counter.wholeCallEnded(status.code, duration, parts.clock.exemplar(duration, in: context))
      keep(status, at: now)
    }
    finish(status, at: span == nil ? 0 : parts.clock.now)
  }

  private func keep(_ status: GRPCStatus, at now: UInt64) {
    guard let called = counter?.called else { return }
    let duration = TelemetryClock.duration(from: start, to: now)
    guard isTimed || called.isNotable(status.code, duration) else { return }
    let end = ObservedEnd(status: status, sent: log.sent, received: log.received)
    parts.keep(called, end, duration, since: start, isTimed: isTimed) { call in
      call.headers = headers
      call.identity = context?.identity ?? SpanIdentity()
      call.resolved = resolved.map { TelemetryClock.duration(from: start, to: $0) }
      call.attempts = log.attempts
    }
  }

  private func finish(_ status: GRPCStatus, at time: UInt64) {
    hasEnded = true
    span?.end(status, at: time)
    served?.remove(self)
    guard attemptCount > 1 || transparentCount > 0 else { return }
    let repetitions = max(0, attemptCount - 1)
    counter?.wasRepeated(
      retries: isHedging ? 0 : repetitions,
      transparent: transparentCount,
      hedges: isHedging ? repetitions : 0,
      delay: Int(clamping: delay)
    )
  }
}

extension ObservedEnd {
  /// The end of an attempt that no server has processed.
  static let sentAgain = ObservedEnd(
    status: GRPCStatus(code: .unavailable, message: "no server has processed the call", origin: .peer),
    sent: MessageTotals(),
    received: MessageTotals()
  )
}

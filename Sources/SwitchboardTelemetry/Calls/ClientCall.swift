import SwitchboardCall

/// Follows a call of a client, and its first attempt, which mostly is its only one.
final class ClientCall: ClientCallTracer, AttemptTracer, @unchecked Sendable {
  // Sendable holds because everything that changes is used on the call's loop only, or before the call is made.
  let channel: ChannelTelemetry
  let method: MethodDescriptor
  let meter: CallMeter?
  let context: SpanContext?
  let span: Span?
  let baggage: [UInt8]?
  private let served: ServerCall?
  private let start: UInt64
  // Unchecked exclusivity: no access lasts while other code is called.
  @exclusivity(unchecked) private var mayRepeat = false
  @exclusivity(unchecked) private var isHedging = false
  @exclusivity(unchecked) private var first: Attempt
  @exclusivity(unchecked) private var attemptCount = 0
  @exclusivity(unchecked) private var transparentCount = 0
  /// How many attempts are under way, and since when none is.
  @exclusivity(unchecked) private var activeCount = 0
  @exclusivity(unchecked) private var idleSince: UInt64?
  @exclusivity(unchecked) private var delay: UInt64 = 0
  @exclusivity(unchecked) private var hasEnded = false

  init(
    _ channel: ChannelTelemetry,
    _ method: MethodDescriptor,
    _ meter: CallMeter?,
    _ parent: SpanContext?,
    baggage: [UInt8]?,
    servedIn served: ServerCall?
  ) {
    self.channel = channel
    self.method = method
    self.meter = meter
    self.baggage = baggage
    self.served = served
    let context = channel.parts.tracer?.newContext(parent)
    self.context = context
    let recorder = channel.parts.tracer.flatMap { tracer in
      context.map(tracer.records) ?? false ? tracer : nil
    }
    // Nobody asks how long a call takes that is neither counted nor recorded.
    let start = meter != nil || recorder != nil ? channel.parts.clock.now : 0
    self.start = start
    first = Attempt(start: start)
    guard let tracer = recorder, let context else {
      span = nil
      return
    }
    let span = Span(
      "Sent.\(method.spanName)",
      context,
      parent: parent?.spanID,
      kind: .client,
      start: start,
      tracer
    )
    span.describe(method)
    span.set("server.address", .string(channel.target))
    self.span = span
  }

  var parts: TelemetryParts { channel.parts }

  /// Whether anybody asks how long the call takes.
  private var isTimed: Bool { meter != nil || span != nil }

  // MARK: The call

  func made(_ call: any ByteCall) { served?.add(call, for: self) }

  func mayRepeat(hedging: Bool) {
    mayRepeat = true
    isHedging = hedging
  }

  func resolutionWasDelayed() { span?.addEvent("Delayed name resolution complete") }

  func attemptStarts(after previousAttempts: Int) -> any AttemptTracer {
    guard attemptCount > 0 else {
      // The clock has just been read.
      first.begin(self, previousAttempts: 0, isTransparent: false)
      attemptBegan(at: start)
      return self
    }
    return LaterAttempt(self, previousAttempts: previousAttempts, isTransparent: false)
  }

  func attemptBegan(at time: UInt64, isTransparent: Bool = false) {
    meter?.callStarted()
    if isTransparent { transparentCount += 1 } else { attemptCount += 1 }
    activeCount += 1
    if let since = idleSince { delay &+= time &- since }
    idleSince = nil
  }

  func attemptEnded(_ attempt: Attempt, _ end: ObservedEnd, endsCall: Bool) {
    let endsCall = endsCall && !mayRepeat
    guard isTimed else {
      if endsCall { finish(end.status, at: 0) }
      return
    }
    let now = parts.clock.now
    activeCount -= 1
    if activeCount == 0 { idleSince = now }
    if let meter {
      let duration = Int(truncatingIfNeeded: now &- attempt.start)
      let spanContext = attempt.context ?? context
      meter.callEnded(
        CallMeter.End(
          code: end.status.code,
          duration: duration,
          sentBytes: end.sentPayload,
          receivedBytes: end.receivedPayload,
          exemplar: spanContext?.exemplar(Double(duration) / 1e9, parts.clock.date(of: now))
        ),
        whole: endsCall ? Int(truncatingIfNeeded: now &- start) : nil
      )
    }
    attempt.span?.end(end.status, at: now)
    if endsCall { finish(end.status, at: now) }
  }

  func ended(_ status: GRPCStatus) {
    guard !hasEnded else { return }
    let now = isTimed ? parts.clock.now : 0
    if let meter {
      let duration = Int(truncatingIfNeeded: now &- start)
      let exemplar = context?.exemplar(Double(duration) / 1e9, parts.clock.date(of: now))
      meter.wholeCallEnded(status.code, duration, exemplar)
    }
    finish(status, at: now)
  }

  private func finish(_ status: GRPCStatus, at time: UInt64) {
    hasEnded = true
    span?.end(status, at: time)
    served?.remove(self)
    guard attemptCount > 1 || transparentCount > 0 else { return }
    let repetitions = max(0, attemptCount - 1)
    meter?.wasRepeated(
      retries: isHedging ? 0 : repetitions,
      transparent: transparentCount,
      hedges: isHedging ? repetitions : 0,
      delay: Int(clamping: delay)
    )
  }

  // MARK: Its first attempt

  var wantsMessages: Bool { first.span != nil && parts.hasMessageEvents }

  func writeHeaders(_ add: (StaticString, RawSpan) -> Void) { first.writeHeaders(of: self, add) }

  func placementWasDelayed() { first.placementWasDelayed() }

  func messageSent(_ byteCount: Int, compressed: Int?) { first.messageSent(byteCount, compressed) }

  func messageReceived(_ byteCount: Int) { first.messageReceived(byteCount) }

  func isSentAgain() -> any AttemptTracer {
    attemptEnded(first, .sentAgain, endsCall: false)
    return LaterAttempt(self, previousAttempts: 0, isTransparent: true)
  }

  func ended(_ end: ObservedEnd) { attemptEnded(first, end, endsCall: true) }
}

extension ObservedEnd {
  /// Of an attempt that no server has processed.
  static let sentAgain = ObservedEnd(
    status: GRPCStatus(code: .unavailable, message: "no server has processed the call", origin: .peer),
    sent: MessageTotals(),
    received: MessageTotals()
  )
}

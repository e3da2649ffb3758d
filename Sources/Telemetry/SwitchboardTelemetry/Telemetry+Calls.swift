import SwitchboardCall

// What shows single calls asks this of the telemetry.
extension Telemetry {
  /// Who keeps calls that are worth a look, if there is somebody.
  package var callKeeper: (any CallKeeper)? { parts.keeping.current }

  /// Tells `keeper` from now on of calls that are worth a look. It is not retained.
  package func keepCalls(with keeper: any CallKeeper) {
    parts.keeping.set(keeper)
    for meters in [parts.serverMeters, parts.clientMeters] {
      for meter in (meters?.all ?? [:]).values { meter.called.slowness = 0 }
    }
  }

  /// Whether some of the calls that begin from now on get a timeline.
  package func timeCalls(_ isOn: Bool) { parts.keeping.setTiming(isOn) }

  /// How long ago a call began, in nanoseconds, and when that was, in nanoseconds since 1970.
  package func age(of start: UInt64) -> (nanoseconds: Int, date: UInt64) {
    let age = TelemetryClock.duration(from: start, to: parts.clock.mark)
    return (age, parts.clock.date(of: parts.clock.now) &- UInt64(age))
  }

  /// The timeline of a call in progress, if it has one.
  package func timeline(of tracer: any CallTracer) -> CallTimeline? { (tracer as? ServerCall)?.timeline }

  /// The identities of a trace and a span in hexadecimal digits. `nil` if there are none.
  package static func texts(of identity: SpanIdentity) -> (trace: String, span: String)? {
    identity.isValid ? ("\(identity.traceID)", "\(identity.spanID)") : nil
  }

  /// The identity of the span of a call in progress.
  package func identity(_ stamp: CallStamp, _ tracer: (any CallTracer)?) -> SpanIdentity {
    switch tracer {
    case let call as ServerCall: call.identity
    case let attempt as any CallAttempt: attempt.call.context?.identity ?? SpanIdentity()
    default: stamp.identity
    }
  }
}

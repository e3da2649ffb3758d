import SwitchboardCall

/// Counts a call of a server that is not traced and whose handler finds no context.
final class CountedCall: ServerCallTracer {
  private let clock: TelemetryClock
  private let meter: CallMeter
  private let start: UInt64

  init(_ clock: TelemetryClock, _ meter: CallMeter) {
    self.clock = clock
    self.meter = meter
    start = clock.now
  }

  var givesContext: Bool { false }
  var wantsMessages: Bool { false }
  func handlerStarts(deadline: ContinuousClock.Instant?) {}
  func run<Result>(_ body: () -> Result) -> Result { body() }
  func messageSent(_ byteCount: Int, compressed: Int?) {}
  func messageReceived(_ byteCount: Int) {}

  func ended(_ end: ObservedEnd) {
    meter.callEnded(
      CallMeter.End(
        code: end.status.code,
        duration: Int(truncatingIfNeeded: clock.now &- start),
        sentBytes: end.sentPayload,
        receivedBytes: end.receivedPayload,
        exemplar: nil
      ),
      whole: nil
    )
  }
}

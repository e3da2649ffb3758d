import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// What loops count without locks, and by which clock.
@Suite(.timeLimit(.minutes(5))) struct LoopMeterTests {
  @Test func loopsCountIndependently() async {
    let meter = CallMeter([])
    await withTaskGroup { group in
      for number in 0..<3 {
        group.addTask {
          let part = meter.onLoop(number)
          for call in 0..<10_000 {
            part.callStarted()
            part.callEnded(
              CallMeter.End(code: .ok, duration: call, sentBytes: 1, receivedBytes: 2, exemplar: nil),
              whole: nil,
              of: meter
            )
          }
        }
      }
      // Read meanwhile, too.
      for _ in 0..<100 { #expect(meter.read().started <= 30_000) }
    }
    let (started, cells, _) = meter.read()
    #expect(started == 30_000)
    #expect(cells[0]?.duration.count == 30_000)
    #expect(cells[0]?.sent.sum == 30_000)
    #expect(cells[0]?.received.sum == 60_000)
    #expect(cells[0]?.whole.count == 0)
    #expect(cells.dropFirst().allSatisfy { $0 == nil })
  }

  @Test func loopNumbersAreReused() throws {
    let group = try LoopGroup()
    defer { group.shutDown() }
    let groups = [try LoopGroup(), try LoopGroup()]
    defer { for group in groups { group.shutDown() } }
    let (one, other) = (groups[0].nextLoop(), groups[1].nextLoop())
    let numbers = LoopNumbers()
    var first: LoopNumber? = numbers.number(of: one)
    #expect(numbers.number(of: one) === first)
    let second = numbers.number(of: other)
    #expect(first?.value == 0)
    #expect(second.value == 1)
    first = nil
    let third = numbers.number(of: group.nextLoop())
    #expect(third.value == 0)
    #expect(numbers.number(of: one).value == 2)
  }

  @Test func bucketLookupsMatchTheirBounds() {
    for bound in HistogramBounds.latency.recorded {
      for value in [bound - 1, bound, bound + 1] {
        #expect(HistogramBounds.latencyBucket(of: value) == HistogramBounds.latency.bucket(of: value))
      }
    }
    for bound in HistogramBounds.size.recorded {
      for value in [bound - 1, bound, bound + 1] {
        #expect(HistogramBounds.sizeBucket(of: value) == HistogramBounds.size.bucket(of: value))
      }
    }
    // A value above all bounds counts, too.
    let histogram = LoopHistogram<42>()
    histogram.record(.max, bucket: HistogramBounds.latencyBucket(of: .max))
    #expect(histogram.read().counts.last == 1)
    #expect(LoopHistogram<15>().read().counts.count == HistogramBounds.size.recorded.count + 1)
  }

  /// A reading of the clock, between two of the system's.
  private func sample(_ clock: TickClock) -> (before: UInt64, time: UInt64, after: UInt64) {
    (TelemetryClock.monotonic, clock.now, TelemetryClock.monotonic)
  }

  /// Also where the processor's count is not trusted: then it is the system's clock.
  @Test(arguments: [TickClock.ofProcess, TickClock(isSteady: false)])
  func durationsMatchTheSystemsClock(_ clock: TickClock) {
    // Until it knows how long a tick is.
    let begin = TelemetryClock.monotonic
    while TelemetryClock.monotonic - begin < 60_000_000 { _ = clock.now }
    for _ in 0..<3 {
      let first = sample(clock)
      while TelemetryClock.monotonic - first.after < 10_000_000 {}
      let second = sample(clock)
      let measured = Double(TelemetryClock.duration(from: first.time, to: second.time))
      #expect(measured >= Double(second.before - first.after) * 0.999)
      #expect(measured <= Double(second.after - first.before) * 1.001)
    }
    #expect(TelemetryClock.duration(from: 10, to: 5) == 0)
  }
}

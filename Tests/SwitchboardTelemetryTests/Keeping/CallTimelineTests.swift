import SwitchboardCall
import Synchronization
import Testing

@testable import SwitchboardTelemetry

/// What a timeline makes of the stages of a call.
@Suite struct CallTimelineTests {
  private final class Clock: Sendable {
    let time = Atomic<UInt64>(1000)
  }

  private final class Checking {}
  private final class Generic<Value> {}

  private let clock = Clock()
  private let timeline: CallTimeline

  init() {
    timeline = CallTimeline(start: 1000, TelemetryClock { [clock] in clock.time.load(ordering: .relaxed) })
  }

  private func at(_ time: UInt64, _ body: (CallTimeline) -> Void) {
    clock.time.store(1000 + time, ordering: .relaxed)
    body(timeline)
  }

  private var shown: [String] {
    timeline.lanes.map { lane in
      let spans = lane.spans.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
      return "\(lane.name) \(spans) \(lane.count) \(lane.total)\(lane.isOpen ? " open" : "")"
    }
  }

  @Test func theStagesOfACallFollowEachOther() {
    at(5) { $0.requestArrived() }
    at(10) { $0.began(.decode) }
    at(12) { $0.ended(.decode) }
    at(12) { $0.found(Checking(), at: 1) }
    at(13) { $0.began(.receive(1)) }
    at(20) { $0.ended(.receive(1)) }
    at(21) { $0.began(.handler) }
    at(30) { $0.ended(.handler) }
    at(31) { $0.began(.send(1)) }
    at(33) { $0.ended(.send(1)) }
    at(34) { $0.began(.encode) }
    at(36) { $0.ended(.encode) }
    at(50) { $0.callEnded(after: 50) }
    #expect(
      shown == [
        "Request 0-5 1 5", "Queue 5-10 1 5", "Decode 10-12 1 2", "Interceptor Checking 13-20 31-33 2 9",
        "Handler 21-30 1 9", "Encode 34-36 1 2", "Send 36-50 1 14",
      ]
    )
  }

  @Test func aCallInProgressShowsWhatIsAtWork() {
    #expect(shown == ["Request 0-0 1 0 open"])
    at(4) { $0.requestArrived() }
    at(6) { $0.began(.handler) }
    at(9) { _ in }
    #expect(shown == ["Request 0-4 1 4", "Queue 4-6 1 2", "Handler 6-9 1 3 open"])
  }

  /// It has begun with two parts, and is at work until it has passed on both.
  @Test func aStageIsAtWorkUntilItHasNothingLeft() {
    at(0) { $0.found(Generic<Int>(), at: 1) }
    at(1) { $0.began(.receive(1)) }
    at(2) { $0.began(.receive(1)) }
    at(3) { $0.ended(.receive(1)) }
    at(8) { $0.ended(.receive(1)) }
    at(9) { $0.ended(.receive(1)) }
    #expect(shown.last == "Interceptor Generic 1-8 1 7")
  }

  /// An interceptor that answers keeps what it has got.
  @Test func anAnswerEndsWhatInterceptorsHaveKept() {
    at(0) { $0.found(Checking(), at: 1) }
    at(1) { $0.began(.receive(1)) }
    at(4) { $0.answered() }
    at(9) { $0.callEnded(after: 9) }
    #expect(shown.suffix(2) == ["Interceptor Checking 1-4 1 3", "Send 4-9 1 5"])
  }

  /// The end is measured on the loop, while a handler may still be on its way out on another thread.
  @Test func nothingLastsLongerThanTheCall() {
    at(2) { $0.requestArrived() }
    at(3) { $0.began(.handler) }
    at(7) { $0.began(.encode) }
    at(12) { $0.ended(.handler) }
    at(13) { $0.callEnded(after: 10) }
    #expect(shown == ["Request 0-2 1 2", "Queue 2-3 1 1", "Handler 3-10 1 7", "Encode 7-10 1 3"])
  }

  @Test func aLongStreamTakesLittle() {
    for number in 0..<1000 {
      let time = UInt64(number)
      at(10 * time) { $0.began(.decode) }
      at(10 * time + 5) { $0.ended(.decode) }
      at(0) { $0.found(Checking(), at: number) }
      at(10 * time + 5) { $0.began(.receive(number)) }
    }
    let lanes = timeline.lanes
    let decode = lanes.first { $0.name == "Decode" }
    #expect(decode?.count == 1000 && decode?.total == 5000)
    #expect(decode?.spans.count == CallTimeline.mostSpans)
    #expect(lanes.count < 30)
  }
}

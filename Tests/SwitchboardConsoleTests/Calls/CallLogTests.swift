import CallTestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardConsole
@testable import SwitchboardTelemetry

/// What is kept of calls, and how much at most.
@Suite struct CallLogTests {
  private let telemetry: Telemetry
  private let time = ManualTime()
  private let log: CallLog
  private let called = CalledMethod("a.B/C", target: "", isServer: true, isWatched: true)

  init() throws {
    telemetry = try Telemetry(TelemetryOptions(serviceName: "test"))
    log = try #require(CallLog.of(telemetry, ShownMetadata(["shown"]), maxMethods: 3, time))
  }

  private func call(
    _ number: Int,
    of called: CalledMethod? = nil,
    milliseconds: Int = 1,
    _ code: GRPCStatus.Code = .ok,
    message: String? = nil,
    isTimed: Bool = false,
    headers: HPACKHeaders? = nil
  ) -> EndedCall {
    let end = ObservedEnd(
      status: GRPCStatus(code: code, message: message),
      sent: MessageTotals(),
      received: MessageTotals()
    )
    var call = EndedCall(
      called ?? self.called,
      end,
      start: UInt64(number),
      date: 0,
      duration: milliseconds * 1_000_000,
      isTimed: isTimed
    )
    call.headers = headers
    return call
  }

  private func numbers(_ kind: ViewQuery.CallKind) -> [UInt64] {
    log.calls(kind, ofServers: true).map(\.call.start).sorted()
  }

  @Test func theSlowestAreKept() {
    for number in 1...100 { log.keep(call(number, milliseconds: (number * 37) % 101)) }
    let slowest = log.calls(.slowest, ofServers: true).map { $0.call.duration / 1_000_000 }.sorted()
    #expect(slowest == Array(93...100))
    // From then on, the telemetry tells of slower ones only.
    #expect(called.slowness == 93_000_001)
    #expect(!called.isNotable(.ok, 93_000_000) && called.isNotable(.ok, 93_000_001))
  }

  @Test func theSlowestOfEachPartOfTheTimeAreKept() {
    for number in 1...20 { log.keep(call(number, milliseconds: 100 + number)) }
    time.advance(by: CallLog.period)
    log.look()
    #expect(called.slowness == 0)
    for number in 21...40 { log.keep(call(number, milliseconds: number)) }
    #expect(numbers(.slowest) == Array(13...20) + Array(33...40))
  }

  @Test func callsAreForgottenAfterAWhile() {
    log.keep(call(1, .internalError))
    time.advance(by: CallLog.age)
    log.look()
    #expect(numbers(.slowest) == [1] && numbers(.failed) == [1])
    time.advance(by: .seconds(1))
    log.look()
    #expect(numbers(.slowest).isEmpty && numbers(.failed).isEmpty && log.cost == 0)
  }

  @Test func aFrequentFailureDoesNotDisplaceARareOne() {
    log.keep(call(1, .dataLoss))
    for number in 2...200 { log.keep(call(number, .notFound)) }
    #expect(numbers(.failed) == [1] + Array(182...200))
    #expect(log.call(Array("server-1".utf8), ofServers: true)?.call.status.code == .dataLoss)
    #expect(log.call(Array("server-1".utf8), ofServers: false) == nil)
    #expect(log.call(Array("server-".utf8), ofServers: true) == nil)
  }

  /// A flood of failures is told of rarely, and each status on its own.
  @Test func aFloodOfFailuresIsThinnedOut() {
    let next = CalledMethod.failureInterval
    #expect(called.failureIsDue(.notFound, at: 10))
    #expect(!called.failureIsDue(.notFound, at: 9 + next))
    #expect(called.failureIsDue(.internalError, at: 11))
    #expect(called.failureIsDue(.notFound, at: 10 + next))
  }

  @Test func eachBucketHasCallsWithATimeline() {
    for number in 1...60 { log.keep(call(number, milliseconds: number % 2 == 0 ? 5 : 50, isTimed: true)) }
    #expect(numbers(.timed) == Array(53...60))
  }

  /// Whoever opens a call that the page shows finds it, for as long as it is open.
  @Test func aCallThatWasShownIsThere() throws {
    let id = Array("server-1".utf8)
    log.keep(call(1, isTimed: true))
    log.show(log.calls(.timed, ofServers: true))
    for number in 2...50 { log.keep(call(number, milliseconds: 1 + number % 2, isTimed: true)) }
    #expect(!numbers(.timed).contains(1) && !numbers(.slowest).contains(1))
    let found = try #require(log.call(id, ofServers: true))
    #expect(log.call(id, ofServers: false) == nil)
    time.advance(by: ShownCalls.age)
    log.show([found])
    time.advance(by: ShownCalls.age)
    log.look()
    #expect(log.call(id, ofServers: true) === found)
    time.advance(by: .seconds(1))
    log.look()
    #expect(log.call(id, ofServers: true) == nil)
  }

  @Test func fewOfTheCallsThatWereShownAreThere() {
    for first in stride(from: 0, to: 4 * ShownCalls.most, by: 200) {
      log.show((first..<first + 200).map { KeptCall(call($0), at: time.now, ShownMetadata([])) })
    }
    let last = 4 * ShownCalls.most - 1
    #expect(log.call(Array("server-\(last)".utf8), ofServers: true) != nil)
    #expect(log.call(Array("server-\(last - ShownCalls.most)".utf8), ofServers: true) == nil)
  }

  @Test func furtherMethodsAreNotKept() {
    let methods = (0..<5).map { CalledMethod("a.B/M\($0)", target: "", isServer: true, isWatched: true) }
    for (number, method) in methods.enumerated() { log.keep(call(number, of: method)) }
    #expect(numbers(.slowest) == [0, 1, 2])
    #expect(methods.map(\.slowness) == [0, 0, 0, .max, .max])
  }

  /// Whatever peers send, a call takes little.
  @Test func aCallIsBounded() {
    let long = String(repeating: "x", count: 100_000)
    var headers = HPACKHeaders()
    for _ in 0..<1000 { headers.add(name: "shown", value: long) }
    headers.add(name: long, value: long)
    log.keep(call(1, .internalError, message: long, headers: headers))
    let kept = log.call(Array("server-1".utf8), ofServers: true)
    #expect(kept.map { $0.cost < 8000 && $0.fields.count == 24 && $0.fieldsLeftOut == 977 } == true)
    #expect(kept?.fields.allSatisfy { ($0.value?.utf8.count ?? 0) < 120 && $0.length == 100_000 } == true)
  }

  @Test(arguments: [false, true]) func allCallsTogetherAreBounded(areAtOnce: Bool) throws {
    let telemetry = try Telemetry(TelemetryOptions(serviceName: "test"))
    let log = try #require(CallLog.of(telemetry, ShownMetadata(["shown"]), maxMethods: 500, time))
    let methods = (0..<500).map { CalledMethod("a.B/M\($0)", target: "", isServer: true, isWatched: true) }
    let fields = HPACKHeaders((0..<24).map { _ in ("shown", String(repeating: "\u{1}", count: 400)) })
    var most = 0
    for number in 0..<5000 {
      let code = GRPCStatus.Code(rawValue: number % 17) ?? .ok
      log.keep(call(number, of: methods[number % 500], code, isTimed: true, headers: fields))
      most = max(most, log.cost)
      if !areAtOnce { time.advance(by: .milliseconds(1)) }
    }
    #expect(most > CallLog.mostBytes / 2 && most <= CallLog.mostBytes)
    #expect(log.cost > CallLog.mostBytes / 2 || areAtOnce)
    // The latest are there.
    #expect(log.call(Array("server-4999".utf8), ofServers: true) != nil || areAtOnce)
  }

  @Test func timelinesEndWhenNobodyLooks() {
    #expect(!telemetry.parts.keeping.isTiming)
    #expect(log.somebodyLooks() == .zero)
    time.advance(by: .seconds(20))
    log.look()
    #expect(log.somebodyLooks() == .seconds(20) && telemetry.parts.keeping.isTiming)
    time.advance(by: CallLog.attention)
    log.look()
    #expect(!telemetry.parts.keeping.isTiming)
    #expect(log.somebodyLooks() == .zero)
  }

  @Test func consolesShareTheLogOfATelemetry() {
    let other = CallLog.of(telemetry, ShownMetadata(["other"]), maxMethods: 3, time)
    #expect(other === log)
    log.keep(call(1, headers: ["shown": "1", "other": "2", "third": "3"]))
    let fields = log.call(Array("server-1".utf8), ofServers: true)?.fields ?? []
    #expect(fields.map { $0.value ?? "-" } == ["1", "2", "-"])
  }

  @Test func withoutALogNothingIsWorthALook() {
    let keeping = CallKeeping()
    let meters = CallMeters(isServer: true, limit: 10, keeping)
    let called = meters.meter(method: "a.B/C", target: "").called
    #expect(!called.isNotable(.ok, .max - 1) && keeping.current == nil)
  }
}

import EchoService
import EchoTestSupport
import LoadMessages
import ServerTestSupport
import Switchboard
import SwitchboardLoad
import SwitchboardProtobuf
import Testing

/// Echoes after a while, or fails.
struct SlowEcho: EchoingProvider {
  /// How long a call takes.
  var wait: @Sendable (String) -> Duration = { _ in .zero }

  final class Kept: Sendable {
    /// How long calls took by the server's own clock.
    let times = Locked(LatencyHistogram())
    let texts = Locked<Set<String>>([])
  }
  let kept = Kept()

  init(wait: @escaping @Sendable (String) -> Duration = { _ in .zero }) { self.wait = wait }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    let start = MonotonicClock.now
    kept.texts.withLock { if $0.count < 1000 { $0.insert(request.text) } }
    if request.text == "fail" { throw GRPCStatus(code: .notFound, message: "no such echo") }
    if request.text == "fail otherwise" { throw GRPCStatus(code: .notFound, message: "nor this one") }
    let wait = wait(request.text)
    if wait > .zero { try await Task.sleep(for: wait) }
    kept.times.withLock { $0.add(MonotonicClock.now - start) }
    return .with { $0.text = request.text }
  }

  func collect(
    requestStream: RequestStream<Echo_EchoRequest>,
    context: ServerCallContext
  ) async throws -> Echo_EchoResponse {
    var count = 0
    for try await _ in requestStream { count += 1 }
    return .with { $0.text = "\(count)" }
  }
}

extension LoadTestPlan {
  /// A plan for a method of `echo.Echo`.
  static func echo(_ target: String, _ method: String = "Get", text: String = "hello") throws -> LoadTestPlan
  {
    try .with {
      $0.target = target
      $0.method.service = "echo.Echo"
      $0.method.name = method
      $0.method.streamsRequests = ["Collect", "Update"].contains(method)
      $0.method.streamsResponses = ["Expand", "Update"].contains(method)
      $0.method.inputType = "echo.EchoRequest"
      let bytes = try Echo_EchoRequest.with { $0.text = text }.serializedBytes()
      $0.payloads = [.with { $0.encoded = Array(bytes) }]
      $0.messagesPerCall = 1
      $0.connections = 2
      $0.loops = 1
      $0.concurrency = 8
      $0.timeoutSeconds = 60
    }
  }

  func measure() async throws -> LoadTally {
    try await LoadRun(try settings()) { try self.channel(on: $0) }.run()
  }
}

@Suite(.timeLimit(.minutes(2))) struct LoadRunTests {
  static func with(_ provider: SlowEcho, _ body: (String) async throws -> Void) async throws {
    try await withServer([provider]) { _, address async throws in try await body("\(address)") }
  }

  @Test(arguments: ["Get", "Expand", "Collect", "Update"], [1, 2])
  func callsOfAllKindsAreCounted(_ method: String, _ loops: UInt32) async throws {
    try await Self.with(SlowEcho()) { target in
      var plan = try LoadTestPlan.echo(target, method, text: "one two three")
      plan.callLimit = 101
      plan.loops = loops
      plan.messagesPerCall = 5
      let tally = try await plan.measure()
      #expect(tally.calls == 101)
      #expect(tally.errors == 0)
      #expect(tally.requests == (["Collect", "Update"].contains(method) ? 505 : 101))
      #expect(tally.responses == (method == "Expand" ? 303 : method == "Update" ? 505 : 101))
      #expect(tally.series.intervals.reduce(0) { $0 + $1.calls } == 101)
    }
  }

  @Test func callsAtARateAreAllStarted() async throws {
    try await Self.with(SlowEcho()) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.rate = .with {
        $0.from = 100
        $0.to = 900
        $0.rampSeconds = 0.4
      }
      plan.durationSeconds = 0.6
      plan.concurrency = 1000
      let tally = try await plan.measure()
      // 0.4 s at 500/s on average, and then 0.2 s at 900/s.
      #expect(tally.calls + tally.missed == 380)
      #expect(tally.errors == 0)
      #expect(tally.serviceTime.count == tally.calls)
    }
  }

  @Test func failuresAreCountedByTheirStatus() async throws {
    try await Self.with(SlowEcho()) { target in
      var plan = try LoadTestPlan.echo(target)
      let failing = try Echo_EchoRequest.with { $0.text = "fail" }.serializedBytes()
      plan.payloads.append(.with { $0.encoded = Array(failing) })
      plan.callLimit = 100
      let tally = try await plan.measure()
      #expect(tally.errors == 50)
      #expect(tally.statuses[GRPCStatus.Code.notFound.rawValue].calls == 50)
      #expect(tally.statuses[GRPCStatus.Code.notFound.rawValue].samples == ["no such echo"])
    }
  }

  @Test func aServiceConfigApplies() async throws {
    try await Self.with(SlowEcho { _ in .seconds(30) }) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.callLimit = 3
      plan.serviceConfig = #"{"methodConfig": [{"name": [{}], "timeout": "0.01s"}]}"#
      let tally = try await plan.measure()
      #expect(tally.statuses[GRPCStatus.Code.deadlineExceeded.rawValue].calls == 3)
      plan.serviceConfig = "{"
      await #expect(throws: GRPCStatus.self) { try await plan.measure() }
    }
  }

  @Test func requestsAreCompressed() async throws {
    try await Self.with(SlowEcho()) { target in
      var plan = try LoadTestPlan.echo(target, text: String(repeating: "a", count: 10_000))
      plan.callLimit = 5
      plan.connections = 1
      let watch = SizeWatch()
      plan.compression = "gzip"
      let settings = try plan.settings()
      let tally = try await LoadRun(settings) { group in
        var options = ChannelOptions()
        options.observer = watch
        return try Channel(target: target, options: options, group: group)
      }.run()
      #expect(tally.errors == 0 && tally.calls == 5)
      // Ten thousand letters are a few bytes.
      #expect(watch.bytes.withLock { $0 } < 5000)
      plan.compression = "snail"
      #expect(throws: PayloadError.self) { try plan.settings() }
    }
  }

  /// Counts what calls send.
  private final class SizeWatch: CallObserver {
    let bytes = Locked(0)
    func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {
      bytes.withLock { $0 += end.sent.bytes }
    }
  }

  @Test func callsOfTheWarmUpDoNotCount() async throws {
    let echo = SlowEcho()
    try await Self.with(echo) { target in
      var plan = try LoadTestPlan.echo(target)
      // Long enough for a connection on a busy machine.
      plan.warmUpSeconds = 2
      plan.durationSeconds = 0.2
      let tally = try await plan.measure()
      #expect(tally.calls > 0)
      #expect(tally.calls < echo.kept.times.withLock { $0.count })
    }
  }

  /// Each call is due long before it can start.
  @Test func aServerThatIsTooSlowForTheRateIsMeasured() async throws {
    let echo = SlowEcho { _ in .milliseconds(2) }
    try await Self.with(echo) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.rate = .with { $0.to = 10_000 }
      plan.concurrency = 1
      plan.warmUpSeconds = 1
      plan.durationSeconds = 2
      let tally = try await plan.measure()
      #expect(tally.calls > 0)
      // Those of the two seconds, at most.
      #expect(tally.missed > 0 && tally.missed <= 20_000)
    }
  }

  /// What the client measures is never less than what the server took, whatever else the machine does.
  @Test func latenciesAreAtLeastThoseOfTheServer() async throws {
    let echo = SlowEcho { text in
      var numbers = SeededNumbers(seed: UInt64(text) ?? 0)
      return .milliseconds(Int.random(in: 2...30, using: &numbers))
    }
    try await Self.with(echo) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.payloads = try (0..<200).map { number in
        let bytes = try Echo_EchoRequest.with { $0.text = "\(number)" }.serializedBytes()
        return .with { $0.encoded = Array(bytes) }
      }
      plan.callLimit = 200
      let tally = try await plan.measure()
      let times = echo.kept.times.withLock { $0 }
      for share in [0.1, 0.5, 0.9, 0.99] {
        #expect(tally.latency.quantile(share) >= times.quantile(share) * 0.98, "\(share)")
      }
    }
  }

  /// A server that stops for a fifth of each half second: a tenth of all calls waits at least for half of that.
  @Test func aStallIsSeenByCallsThatWereDueInIt() async throws {
    let begin = MonotonicClock.now
    let echo = SlowEcho { _ in
      let phase = (MonotonicClock.now - begin) % 500_000_000
      return phase < 100_000_000 ? .nanoseconds(Int64(100_000_000 - phase)) : .zero
    }
    try await Self.with(echo) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.rate = .with { $0.to = 200 }
      plan.concurrency = 10_000
      plan.durationSeconds = 2
      let tally = try await plan.measure()
      #expect(tally.calls == 400)
      #expect(tally.latency.quantile(0.9) >= 45e6)
      #expect(tally.latency.quantile(0.99) >= 85e6)
    }
  }

  @Test func aRunCanBeStoppedWhileCallsHang() async throws {
    try await Self.with(SlowEcho { _ in .seconds(600) }) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.rate = .with { $0.to = 1000 }
      plan.concurrency = 50
      let run = try await LoadRun(try plan.settings()) { [plan] in try plan.channel(on: $0) }
      async let tally = run.run()
      await run.stop(grace: .milliseconds(50))
      #expect(await tally.calls == 0)
      #expect(run.progress.share == nil)
    }
  }

  @Test func unfinishedCallsAreEndedAndCounted() async throws {
    try await Self.with(SlowEcho { _ in .seconds(600) }) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.timeoutSeconds = 0
      plan.concurrency = 100
      plan.rate = .with { $0.to = 100 }
      plan.durationSeconds = 0.2
      var settings = try plan.settings()
      settings.drain = .milliseconds(100)
      let run = try await LoadRun(settings) { [plan] in try plan.channel(on: $0) }
      let tally = await run.run()
      #expect(tally.calls == 20)
      #expect(tally.errors == 20)
    }
  }

  @Test func anUnreachableServerFailsTheRun() async throws {
    let plan = try LoadTestPlan.echo("127.0.0.1:1")
    let error = await #expect(throws: GRPCStatus.self) { try await plan.measure() }
    #expect(error?.code == .unavailable)
  }

  @Test func templatesMakeEveryRequestDifferent() async throws {
    let echo = SlowEcho()
    try await Self.with(echo) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.payloads = [.with { $0.template = #"{"text": "number {{i}}"}"# }]
      var set = DescriptorSet()
      for data in Echo_EchoMetadata.reflectionData { try set.add(data) }
      plan.descriptorSet = set.bytes
      plan.callLimit = 30
      let tally = try await plan.measure()
      #expect(tally.errors == 0)
      let texts = echo.kept.texts.withLock { $0 }
      #expect(texts == Set((0..<30).map { "number \($0)" }))
    }
  }

  @Test func invalidPlansAreRejected() throws {
    let changes: [(inout LoadTestPlan) -> Void] = [
      { $0.connections = 0 }, { $0.connections = 5000 }, { $0.loops = 1000 }, { $0.concurrency = 0 },
      { $0.messagesPerCall = 0 }, { $0.durationSeconds = -1 }, { $0.durationSeconds = .nan },
      { $0.warmUpSeconds = 1e300 }, { $0.rate.to = 0 }, { $0.rate.to = .nan }, { $0.method.name = "" },
      { $0.payloads = [.with { $0.template = "{{i}}" }] },
      { $0.payloads = [.with { $0.template = "{}" }, .with { $0.encoded = [] }] },
    ]
    for (place, change) in changes.enumerated() {
      var plan = try LoadTestPlan.echo("127.0.0.1:1")
      change(&plan)
      #expect(throws: (any Error).self, "\(place)") { try plan.settings() }
    }
  }

  @Test func partsOfAPlanAddUp() throws {
    var plan = try LoadTestPlan.echo("x")
    plan.concurrency = 10
    plan.callLimit = 100
    plan.rate = .with {
      $0.from = 30
      $0.to = 300
    }
    plan.connections = 5
    let parts = (0..<3).map { plan.part($0, of: 3) }
    #expect(parts.map(\.connections) == [2, 2, 1])
    #expect(parts.map(\.concurrency) == [4, 3, 3])
    #expect(parts.map(\.callLimit) == [34, 33, 33])
    #expect(parts.map(\.rate.to) == [100, 100, 100])
    try plan.check(agents: 5)
    #expect(throws: PayloadError("5 connections cannot be divided among 6 agents")) {
      try plan.check(agents: 6)
    }
    (plan.connections, plan.callLimit) = (10, 2)
    #expect(throws: PayloadError("2 calls cannot be divided among 3 agents")) { try plan.check(agents: 3) }
    // Without a limit of calls there are enough for all.
    plan.callLimit = 0
    try plan.check(agents: 3)
  }

  /// Two loops have a call in progress each: with one caller, there is one loop, which makes all calls.
  @Test(arguments: [false, true]) func oneCallerMakesAllCalls(_ hasRate: Bool) async throws {
    try await Self.with(SlowEcho()) { target in
      var plan = try LoadTestPlan.echo(target)
      (plan.concurrency, plan.loops, plan.callLimit) = (1, 2, 10)
      if hasRate { plan.rate = .with { $0.to = 1000 } }
      let tally = try await plan.measure()
      #expect(tally.calls == 10)
    }
  }

  /// Without a duration, the run ends when nothing happens any more, and starts nothing after that.
  @Test(arguments: [false, true]) func callsThatHangDoNotHoldARunWithoutEnd(_ hasRate: Bool) async throws {
    try await Self.with(SlowEcho { _ in .seconds(3600) }) { target in
      var plan = try LoadTestPlan.echo(target)
      plan.timeoutSeconds = 0
      (plan.concurrency, plan.callLimit) = (2, 1_000_000)
      if hasRate { plan.rate = .with { $0.to = 1000 } }
      var settings = try plan.settings()
      settings.drain = .seconds(2)
      let tally = try await LoadRun(settings) { [plan] in try plan.channel(on: $0) }.run()
      #expect((tally.calls, tally.errors) == (2, 2))
    }
  }
}

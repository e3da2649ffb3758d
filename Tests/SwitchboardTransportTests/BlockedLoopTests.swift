import CallTestSupport
import Dispatch
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import Synchronization
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Handlers that block their loop are named. Each of these handlers waits, without leaving the loop, until it is.
@Suite(.timeLimit(.minutes(5))) struct BlockedLoopTests {
  @Test func aUnaryHandlerThatBlocksIsNamed() async throws {
    try await blocks("/test.Blocking/Get") { try await $0.call(Blocking.get).unary([]) }
  }

  @Test func aHandlerThatBlocksAfterItHasSuspendedIsNamed() async throws {
    try await blocks("/test.Blocking/Resumed") { try await $0.call(Blocking.resumed).unary([]) }
  }

  @Test func aHandlerThatBlocksBetweenRequestsIsNamed() async throws {
    try await blocks("/test.Blocking/Collect") { try await $0.call(Blocking.collect).clientStreaming([[1]]) }
  }

  @Test func anInterceptorThatBlocksIsNamed() async throws {
    try await blocks("/test.Blocking/Guarded") { try await $0.call(Blocking.guarded).unary([]) }
  }

  /// What is not a handler's work has no name, but is reported.
  @Test func workThatBlocksIsReported() async throws {
    try await blocks(nil) { channel in
      try await channel.call(Blocking.execute).unary([])
    }
  }

  @Test func aHandlerThatIgnoresItsCancellationIsNamed() async throws {
    let recorder = BlockRecorder { $0 == "/test.Blocking/Restless" }
    var options = ServerOptions()
    options.observer = recorder
    options.logger = Logger(recorder)
    try await withChannel(to: [Blocking(recorder)], options: options) { channel async throws in
      let call = CallOptions(timeout: .milliseconds(20))
      await #expect(throws: GRPCStatus.self) {
        _ = try await channel.call(Blocking.restless, options: call).unary([])
      }
      // On a busy machine, a call may end before its handler begins.
      while !Task.isCancelled, recorder.entries.count < 2 {
        _ = try? await channel.call(Blocking.restless, options: call).unary([])
      }
      #expect(recorder.entries.count >= 2)
    }
  }

  /// A handler that goes on after its call, and waits as it should, is not what blocks.
  @Test func anotherHandlerOfTheMethodThatGoesOnIsNotBlamed() throws {
    let recorder = BlockRecorder()
    var options = ServerOptions()
    options.logger = Logger(recorder)
    let methods = Blocking(recorder).methodHandlers.prefix(1).map { RPCMethod($0) }
    let reporter = try #require(BlockReporter(options, methods))
    methods[0].abandoned.add(1)
    _ = reporter.blocked(methods[0].number, for: 1_000_000_000, at: 1)
    let hint = try #require(recorder.entries.first?["hint"])
    #expect(hint.hasPrefix("let it await instead of blocking, or run it elsewhere"))
    #expect(hint.contains("It may also be a handler whose call has ended"))
  }

  // MARK: Channels

  /// A closure that is called on the channel's loop, before the channel can do anything else.
  @Test func aCallbackThatBlocksIsNamed() async throws {
    try await blocksItsChannel("/test.Blocking/Free", "let a callback, such as that of whenResponse,") {
      channel,
      recorder in
      await withCheckedContinuation { continuation in
        channel.eventLoop.execute {
          let call = channel.call(Blocking.free).makeUnaryCall([])
          // The response cannot have come yet.
          call.whenResponse { _ in
            withExtendedLifetime(call) { continuation.resume(returning: recorder.block()) }
          }
        }
      }
    }
  }

  @Test func aClientsInterceptorThatBlocksIsNamed() async throws {
    try await blocksItsChannel("/test.Blocking/Free", "give an interceptor a responseExecutor") {
      channel,
      recorder in
      let chain = CallInterceptors<[UInt8], [UInt8]>([ClientBlocking(recorder)])
      let method = Blocking.free.bytes
      return try await MethodCall(method, on: channel, interceptors: chain).makeUnaryCall([]).response
    }
  }

  @Test func otherWorkOfAChannelsLoopIsReported() async throws {
    try await blocksItsChannel(nil, "EventLoop.execute") { channel, recorder in
      await withCheckedContinuation { continuation in
        channel.eventLoop.execute { continuation.resume(returning: recorder.block()) }
      }
    }
  }

  private func blocksItsChannel(
    _ path: String?,
    _ hint: String,
    _ call: (Channel, BlockRecorder) async throws -> [UInt8]
  ) async throws {
    let recorder = BlockRecorder { $0 == path }
    var options = ChannelOptions()
    options.logger = Logger(recorder)
    try await withChannel(to: [Blocking(recorder)], channel: options) { channel async throws in
      // What a loop does before it first waits for events is not looked at.
      _ = try await channel.call(Blocking.free).unary([])
      #expect(try await call(channel, recorder) == [1])
      while !Task.isCancelled, recorder.entries.count < 2 { await Task.yield() }
      let entries = recorder.entries
      #expect(entries.first?["hint"]?.contains(hint) == true)
      #expect(entries.dropFirst().first?["after"] != nil)
    }
  }

  /// The loop may have another channel, with a limit of its own, which has called the same method.
  @Test func theChannelWhoseCallBlocksSaysSo() async throws {
    try await withServer([Blocking(BlockRecorder())]) { _, address async throws in
      let target = "\(address)"
      let group = try LoopGroup()
      let recorders = (0..<3).map { _ in BlockRecorder { $0 == "/test.Blocking/Free" } }
      let channels = try zip(recorders, [1, 60, 1]).map { recorder, limit in
        var options = ChannelOptions()
        options.logger = Logger(recorder)
        options.blockedLoopLimit = .milliseconds(limit)
        return try Channel(target: target, options: options, group: group)
      }
      for channel in channels { _ = try await channel.call(Blocking.free).unary([]) }
      let chain = CallInterceptors<[UInt8], [UInt8]>([ClientBlocking(recorders[1])])
      let call = MethodCall(Blocking.free.bytes, on: channels[1], interceptors: chain)
      #expect(try await call.makeUnaryCall([]).response == [1])
      while !Task.isCancelled, recorders[1].entries.count < 2 { await Task.yield() }
      for other in [recorders[0], recorders[2]] { #expect(other.entries.isEmpty) }
      for channel in channels { await channel.shutDown(grace: .zero) }
    }
  }

  /// Methods that are made up for each call share a number by their path.
  @Test func aMethodHasOneNumber() {
    let marks = (0..<2).map { _ in
      CalledMethods.ofProcess.mark(of: MethodDescriptor(path: "/made.Up/Get", type: .unary))
    }
    #expect(marks[0] == marks[1] && marks[0] & 1 == 1)
    #expect(CalledMethods.ofProcess.path(of: marks[0] >> 1) == "/made.Up/Get")
  }

  /// A proxy may call as many methods as its clients make up.
  @Test func methodsKeepTheirNamesAmongManyThatAreMadeUp() {
    let methods = CalledMethods()
    let kept = MethodDescriptor(path: "/made.Up/Kept", type: .unary)
    for index in 0..<3000 {
      _ = methods.mark(of: MethodDescriptor(path: "/made.Up/\(index)", type: .unary))
      let mark = methods.mark(of: kept)
      #expect(methods.path(of: mark >> 1) == "/made.Up/Kept")
    }
    let late = methods.mark(of: MethodDescriptor(path: "/made.Up/Late", type: .unary))
    #expect(methods.path(of: late >> 1) == "/made.Up/Late")
  }

  private func blocks(
    _ path: String?,
    _ call: (Channel) async throws -> [UInt8]
  ) async throws {
    let recorder = BlockRecorder { $0 == path }
    var options = ServerOptions()
    options.observer = recorder
    options.logger = Logger(recorder)
    try await withChannel(to: [Blocking(recorder)], options: options) { channel async throws in
      #expect(try await call(channel) == [1])
      while !Task.isCancelled, recorder.entries.count < 2 { await Task.yield() }
      #expect(recorder.methods.first == path ?? "unknown")
      let entries = recorder.entries
      let hint = path.map { "ServerOptions.handlerPlacements[\"\($0)\"] = .threads" } ?? "EventLoop.execute"
      #expect(entries.first?["hint"]?.contains(hint) == true)
      let last = entries.dropFirst().first
      #expect(last?["after"] != nil)
    }
  }
}

/// Remembers what was reported, and lets go of whoever waits for that.
private final class BlockRecorder: CallObserver, LogHandler {
  let reported = DispatchSemaphore(value: 0)
  private let isExpected: @Sendable (_ path: String?) -> Bool
  private let state = Locked((methods: [String](), entries: [[String: String]]()))

  var methods: [String] { state.withLock(\.methods) }
  var entries: [[String: String]] { state.withLock(\.entries) }

  /// On a busy machine a loop may be late for other reasons than a test's. What is not expected is forgotten.
  init(_ isExpected: @escaping @Sendable (_ path: String?) -> Bool = { _ in true }) {
    self.isExpected = isExpected
  }

  func loopBlocked(by method: MethodDescriptor?, for time: Duration) {
    guard isExpected(method?.path) else { return }
    state.withLock { $0.methods.append(method?.path ?? "unknown") }
    reported.signal()
  }

  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    guard message.contains("event loop"), isExpected(metadata["method"]) else { return }
    state.withLock { $0.entries.append(metadata) }
    // A channel has no metric.
    if message.contains("of a call") || message.hasPrefix("something") { reported.signal() }
  }

  /// Blocks the thread until there is a report.
  func block() -> [UInt8] { reported.wait(timeout: .now() + 60) == .success ? [1] : [0] }
}

private final class ClientBlocking: ClientInterceptor<[UInt8], [UInt8]> {
  let recorder: BlockRecorder

  init(_ recorder: BlockRecorder) { self.recorder = recorder }

  override func receive(
    _ part: GRPCClientResponsePart<[UInt8]>,
    context: ClientInterceptorContext<[UInt8], [UInt8]>
  ) {
    guard case .message = part else { return context.receive(part) }
    context.receive(.message(recorder.block()))
  }
}

private final class Blocking: CallHandlerProvider {
  static let free = MethodDescriptor(service: "test.Blocking", method: "Free", type: .unary)
  static let get = MethodDescriptor(service: "test.Blocking", method: "Get", type: .unary)
  static let resumed = MethodDescriptor(service: "test.Blocking", method: "Resumed", type: .unary)
  static let collect = MethodDescriptor(service: "test.Blocking", method: "Collect", type: .clientStreaming)
  static let guarded = MethodDescriptor(service: "test.Blocking", method: "Guarded", type: .unary)
  static let restless = MethodDescriptor(service: "test.Blocking", method: "Restless", type: .unary)
  static let execute = MethodDescriptor(service: "test.Blocking", method: "Execute", type: .unary)

  private final class Interceptor: ServerInterceptor<[UInt8], [UInt8]> {
    let recorder: BlockRecorder

    init(_ recorder: BlockRecorder) { self.recorder = recorder }

    override func receive(
      _ part: GRPCServerRequestPart<[UInt8]>,
      context: ServerInterceptorContext<[UInt8], [UInt8]>
    ) {
      if case .metadata = part { context.userInfo[Answer.self] = recorder.block() }
      context.receive(part)
    }
  }

  private enum Answer: UserInfoKey {
    typealias Value = [UInt8]
  }

  private let recorder: BlockRecorder

  init(_ recorder: BlockRecorder) { self.recorder = recorder }

  var serviceName: String { "test.Blocking" }

  var methodHandlers: [MethodHandler] {
    let recorder = recorder
    return [
      Self.get.bytes.unaryHandler { _, _ in recorder.block() },
      Self.resumed.bytes.unaryHandler { _, _ in
        await Task.yield()
        return recorder.block()
      },
      Self.collect.bytes.clientStreamingHandler { requests, _ in
        var answer: [UInt8] = []
        for try await _ in requests { answer = recorder.block() }
        return answer
      },
      Self.guarded.bytes.unaryHandler(
        interceptors: { [Interceptor(recorder)] },
        { _, context in context.userInfo[Answer.self] ?? [] }
      ),
      Self.free.bytes.unaryHandler { _, _ in [] },
      Self.restless.bytes.unaryHandler { _, _ in
        while recorder.entries.isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
        return []
      },
      Self.execute.bytes.unaryHandler { _, context in
        await withCheckedContinuation { continuation in
          context.eventLoop.execute { continuation.resume(returning: recorder.block()) }
        }
      },
    ]
  }
}

/// What is seen of a loop.
@Suite(.timeLimit(.minutes(5))) struct LoopActivityTests {
  /// A handler that gives the loop up and goes on has not blocked it.
  @Test func eachPieceOfWorkIsAStep() {
    let activity = LoopActivity()
    activity.wake()
    var sights = [activity.sight]
    for _ in 0..<3 {
      activity.begin(3)
      sights.append(activity.sight)
    }
    #expect(sights.allSatisfy { $0.isWorking })
    #expect(Set(sights.map(\.step)).count == 4)
    activity.wait()
    #expect(!activity.sight.isWorking)
  }

  private static let watchdog = LoopWatchdog()
  private final class Observer: CallObserver {}

  @Test func aWatchdogThatSleepsKeepsNoServer() async throws {
    let group = try LoopGroup()
    weak var observer: Observer?
    observer = try await watched(group.loops[0])
    while !Task.isCancelled, observer != nil { await Task.yield() }
    #expect(observer == nil)
  }

  /// An observer that was watched for until the watchdog had nothing to look at.
  private func watched(_ loop: Loop) async throws -> Observer {
    let observer = Observer()
    var options = ServerOptions()
    options.observer = observer
    let reporter = try #require(BlockReporter(options, []))
    Self.watchdog.watch([loop], for: reporter)
    while !Task.isCancelled, !loop.activity.wantsBell.load(ordering: .relaxed) { await Task.yield() }
    Self.watchdog.unwatch(for: reporter)
    return observer
  }
}

/// When a loop counts as blocked.
@Suite struct BlockWatchTests {
  private static let millisecond: UInt64 = 1_000_000
  private final class Place: Sendable {}

  private let place = Place()
  private var loop: ObjectIdentifier { ObjectIdentifier(place) }

  /// Looks every 25 ms at turns, of which odd numbers are work, and returns what was found at which time.
  private func findings(
    _ turns: [UInt64],
    method: UInt = 7,
    every interval: UInt64 = 25
  ) -> [(time: UInt64, finding: BlockWatch.Finding)] {
    var watch = BlockWatch()
    return turns.enumerated().flatMap { index, turn in
      let time = UInt64(index) * interval
      let sight = LoopActivity.Sight(step: turn, method: method)
      let look = BlockWatch.Look(loop: loop, sight: sight, limit: 50 * Self.millisecond)
      return watch.look([look], at: time * Self.millisecond).map { (time, $0) }
    }
  }

  @Test func aLoopInTheSameTurnForTooLongIsBlocked() {
    let found = findings([1, 1, 1, 1, 1, 3])
    #expect(found.map(\.time) == [50, 125])
    #expect(
      found.map(\.finding) == [
        .blocked(loop, method: 7, for: 50 * Self.millisecond),
        .released(loop, after: 125 * Self.millisecond),
      ]
    )
  }

  @Test func aLoopThatGetsOnIsNotBlocked() {
    #expect(findings([1, 1, 3, 3, 5, 5, 7]).isEmpty)
  }

  @Test func aLoopThatWaitsIsNotBlocked() {
    #expect(findings([2, 2, 2, 2, 2, 2]).isEmpty)
    #expect(findings([1, 1, 2, 2, 2, 2]).isEmpty)
  }

  /// The thread that looks was kept from it, so the loop may have been, too.
  @Test func timeInWhichNobodyLookedDoesNotCount() {
    #expect(findings([1, 1, 1, 1], every: 1000).isEmpty)
  }

  @Test func aLoopIsFoundAgainAfterItWasReleased() {
    let found = findings([1, 1, 1, 3, 3, 3, 4])
    #expect(found.map(\.time) == [50, 75, 125, 150])
  }

  @Test func nothingIsLookedAtWhileAllLoopsSleep() {
    var watch = BlockWatch()
    func look(_ turn: UInt64, at time: UInt64) -> Bool {
      let sight = LoopActivity.Sight(step: turn, method: 0)
      _ = watch.look([BlockWatch.Look(loop: loop, sight: sight, limit: 1)], at: time)
      return watch.isQuiet
    }
    let interval = BlockWatch.interval
    let quiet = (0...10 as ClosedRange<UInt64>).map { look(2, at: $0 * interval) }
    #expect(quiet.firstIndex(of: true) == 10)
    // A turn of which only the end is seen.
    #expect(!look(4, at: 11 * interval))
    #expect(!look(4, at: 12 * interval))
  }
}

/// What is said about a loop that is blocked, and how often.
@Suite struct BlockReporterTests {
  private static let second: UInt64 = 1_000_000_000

  @Test func eachMethodIsInTheLogOnceAMinute() throws {
    let recorder = BlockRecorder()
    var options = ServerOptions()
    options.logger = Logger(recorder)
    options.observer = recorder
    let methods = Blocking(recorder).methodHandlers.prefix(2).map { RPCMethod($0) }
    let reporter = try #require(BlockReporter(options, methods))
    let (get, resumed) = (methods[0].number, methods[1].number)
    let times: [(UInt, UInt64)] = [
      (get, 0), (get, 30), (resumed, 31), (get, 59), (get, 60), (0, 61), (0, 62),
    ]
    let isLogged = times.map { reporter.blocked($0, for: Self.second, at: $1 * Self.second) }
    #expect(isLogged == [true, false, true, false, true, true, false])
    let entries = recorder.entries
    #expect(
      entries.map { $0["method"] } == [
        "/test.Blocking/Get", "/test.Blocking/Resumed", "/test.Blocking/Get", nil,
      ]
    )
    #expect(entries.map { $0["unreported"] } == [nil, nil, "2 times since the last entry", nil])
    #expect(entries.first?["for"] == "1000 ms")
    // The metric counts each time.
    #expect(recorder.methods.count == times.count)
    reporter.released(get, after: 2 * Self.second)
    #expect(recorder.entries.last?["after"] == "2000 ms")
  }

  /// The thread that looks after the loops would at times be the one to release it, later than its server.
  @Test func aReporterKeepsNoService() throws {
    weak var captured: BlockRecorder?
    let reporter: BlockReporter?
    do {
      let recorder = BlockRecorder()
      captured = recorder
      // Its handlers keep the recorder.
      reporter = BlockReporter(ServerOptions(), Blocking(recorder).methodHandlers.map { RPCMethod($0) })
    }
    #expect(captured == nil)
    #expect(reporter != nil)
  }

  @Test func nobodyLooksIfTheOptionsDoNotWantIt() {
    var options = ServerOptions()
    options.blockedLoopLimit = nil
    #expect(BlockReporter(options, []) == nil)
  }
}

@Suite struct TaskMarksTests {
  @Test func tasksHaveTheirMarksUntilTheyAreRemoved() {
    let marks = TaskMarks()
    let addresses = (1...200 as ClosedRange<UInt>).map { $0 * 1024 }
    for address in addresses { marks.add(address, address | 1) }
    // A few may have been forgotten, but none is confused with another.
    let found = addresses.map { marks.mark(of: $0) }
    #expect(zip(addresses, found).allSatisfy { $1 == $0 | 1 || $1 == 0 })
    #expect(found.count { $0 != 0 } > 190)
    for address in addresses { marks.remove(address) }
    #expect(addresses.allSatisfy { marks.mark(of: $0) == 0 })
    #expect(marks.mark(of: 0) == 0)
  }
}

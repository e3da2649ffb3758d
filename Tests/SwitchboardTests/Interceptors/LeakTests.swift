import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Testing

/// A chain ends and is released even if it does not forward the parts that it should.
@Suite(.timeLimit(.minutes(5))) struct LeakTests {
  enum Swallower: CaseIterable {
    case requestMetadata, requestEnd, responseMetadata, responseEnd
  }

  @Test(arguments: Swallower.allCases)
  func aClientsChainThatDropsAPartEndsWithTheDeadline(_ part: Swallower) async throws {
    let live = LiveCount()
    try await EchoPair.with { pair async throws in
      // The one call that succeeds has no deadline, which it might miss.
      let client = pair.client(timeout: part == .responseMetadata ? nil : .milliseconds(50)) {
        [
          CountedClientInterceptor(live), KeepingClientInterceptor(part, live),
          CountedClientInterceptor(live),
        ]
      }
      if part != .responseMetadata {
        #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded)
        let requests = [Echo_EchoRequest("x")]
        #expect(await status { _ = try await client.update(requests).collected() }?.code == .deadlineExceeded)
      } else {
        #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
      }
      try await live.isZero()
    }
  }

  @Test(arguments: [Swallower.requestMetadata, .requestEnd, .responseEnd])
  func aClientsChainThatDropsAPartEndsWithCancellation(_ part: Swallower) async throws {
    let (live, log) = (LiveCount(), Log())
    try await EchoPair.with { pair async throws in
      let client = pair.client(timeout: nil) {
        [
          CountedClientInterceptor(live), ClientRecorder("c", log), KeepingClientInterceptor(part, live),
        ]
      }
      let task = Task { try await client.get(Echo_EchoRequest("x")) }
      _ = try await log.lines(atLeast: 3)
      task.cancel()
      #expect(await status { _ = try await task.value }?.code == .cancelled)
      do {
        let call = client.makeUpdateCall()
        try await call.requestStream.send(Echo_EchoRequest("x"))
      }
      try await live.isZero()
    }
  }

  /// The chain is released when the call ends, but not while an interceptor runs.
  @Test func anInterceptorThatEndsItsCallIsReleasedAfterItReturns() async throws {
    let (live, log) = (LiveCount(), Log())
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [CountedServerInterceptor(live), EndingServerInterceptor(live, log), CountedServerInterceptor(live)]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client { [] }
      #expect(await status { _ = try await client.collect([Echo_EchoRequest("x")]) }?.code == .aborted)
      #expect(try await log.lines(atLeast: 1) == ["3 live"])
      try await live.isZero()
    }
  }

  @Test(arguments: Swallower.allCases)
  func aServersChainThatDropsAPartEndsWithTheDeadline(_ part: Swallower) async throws {
    let live = LiveCount()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [CountedServerInterceptor(live), KeepingServerInterceptor(part, live), CountedServerInterceptor(live)]
    }
    try await EchoPair.with(server: make) { pair async throws in
      // The one call that succeeds has no deadline, which it might miss.
      let timeout: Duration? = part == .responseMetadata ? nil : .milliseconds(50)
      let client = Echo_EchoClient(channel: pair.channel, defaultCallOptions: CallOptions(timeout: timeout))
      let requests = [Echo_EchoRequest("x")]
      if part != .responseMetadata {
        #expect(await status { _ = try await client.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded)
        #expect(await status { _ = try await client.update(requests).collected() }?.code == .deadlineExceeded)
        #expect(await status { _ = try await client.collect(requests) }?.code == .deadlineExceeded)
      } else {
        #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
      }
      try await live.isZero()
    }
  }

  @Test func aServersChainThatKeepsEverythingIsReleasedWithItsClient() async throws {
    let (live, log) = (LiveCount(), Log())
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [ServerRecorder("s", log), KeepingServerInterceptor(nil, live)]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let task = Task { try await pair.client().get(Echo_EchoRequest("x")) }
      _ = try await log.lines(atLeast: 3)
      task.cancel()
      _ = await task.result
      try await live.isZero()
    }
  }

  @Test func callsThatStreamRequestsAreReleasedCompletely() async throws {
    let live = LiveCount()
    let make: @Sendable () -> [EchoServerInterceptor] = { [MarkingServerInterceptor(live)] }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client()
      let requests = [Echo_EchoRequest("x"), Echo_EchoRequest("y")]
      _ = try await client.collect(requests)
      #expect(try await client.update(requests).collected().count == 2)
      try await live.isZero()
    }
  }

  @Test func callsThatAnInterceptorRejectsAreReleasedCompletely() async throws {
    let live = LiveCount()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [MarkingServerInterceptor(live, endsWith: .metadata)]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client()
      let requests = [Echo_EchoRequest("x"), Echo_EchoRequest("y")]
      #expect(await status { _ = try await client.get(requests[0]) }?.code == .aborted)
      #expect(await status { _ = try await client.expand(requests[0]).collected() }?.code == .aborted)
      #expect(await status { _ = try await client.collect(requests) }?.code == .aborted)
      #expect(await status { _ = try await client.update(requests).collected() }?.code == .aborted)
      try await live.isZero()
    }
  }

  @Test func aReadingHandlerLearnsThatAnInterceptorEndedTheCall() async throws {
    let live = LiveCount()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [MarkingServerInterceptor(live, endsWith: .message)]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let call = pair.client().makeUpdateCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      #expect(await call.status.code == .aborted)
      try await live.isZero()
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess])
  func aHandlerThatReadsNothingIsCancelledWhenAnInterceptorEndsTheCall(_ wire: Wire) async throws {
    let live = LiveCount()
    let (ends, end) = AsyncStream<Bool>.makeStream()
    let update = Echo_EchoMetadata.Methods.update.bidirectionalStreamingHandler(
      interceptors: { [MarkingServerInterceptor(live, endsWith: .message)] },
      { _, _, context in
        try? await Task.sleep(for: .seconds(3600))
        end.yield(Task.isCancelled && context.isCancelled)
      }
    )
    try await withChannel(to: [ServiceHandlers(Echo_EchoMetadata.service, [update])], over: wire) {
      channel async throws in
      let call = Echo_EchoClient(channel: channel).makeUpdateCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      #expect(await call.status.code == .aborted)
      #expect(await ends.first { _ in true } == true)
    }
    try await live.isZero()
  }

  /// The second message fails the call, and no part ends the chain.
  @Test func aServersChainThatAnswersTwiceAndDropsTheEndIsReleased() async throws {
    let live = LiveCount()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [KeepingServerInterceptor(.responseEnd, live), DoublingServerInterceptor()]
    }
    try await EchoPair.with(server: make) { pair async throws in
      #expect(await status { _ = try await pair.client().get(Echo_EchoRequest("x")) }?.code == .internalError)
      try await live.isZero()
    }
  }

  /// The second handler gets the requests, and the first waits for some until the call ends.
  @Test func aHandlerThatAnInterceptorReplacedIsReleased() async throws {
    let live = LiveCount()
    let make: @Sendable () -> [EchoServerInterceptor] = {
      [MarkingServerInterceptor(live), ReplacingServerInterceptor()]
    }
    try await EchoPair.with(server: make) { pair async throws in
      let client = pair.client()
      let requests = [Echo_EchoRequest("x"), Echo_EchoRequest("y")]
      _ = try await client.collect(requests)
      _ = try await client.update(requests).collected()
      try await live.isZero()
    }
  }

  @Test func wholeCallInterceptorsAreReleased() async throws {
    let live = LiveCount()
    let server: @Sendable () -> [EchoServerInterceptor] = {
      [CountedServerInterceptor(live), ServerCallHook()]
    }
    try await EchoPair.with(server: server) { pair async throws in
      let client = pair.client { [CountedClientInterceptor(live), ClientCallHook()] }
      _ = try await client.get(Echo_EchoRequest("x"))
      _ = try await client.update([Echo_EchoRequest("x")]).collected()
      _ = client.expand(Echo_EchoRequest("x y z"))
      let stuck = pair.client(timeout: .milliseconds(30)) {
        [
          CountedClientInterceptor(live),
          ClientCallHook(
            unary: { _, _, _ in
              try await Task.sleep(for: .seconds(3600))
              throw CancellationError()
            },
            streamed: { _, _, _ in
              try await Task.sleep(for: .seconds(3600))
              throw CancellationError()
            }
          ),
        ]
      }
      #expect(await status { _ = try await stuck.get(Echo_EchoRequest("x")) }?.code == .deadlineExceeded)
      #expect(
        await status { _ = try await stuck.expand(Echo_EchoRequest("x")).collected() }?.code
          == .deadlineExceeded
      )
      try await live.isZero()
    }
  }
}

extension LiveCount {
  /// Waits until every object has been released, and expects that there were some.
  func isZero() async throws {
    #expect(total > 0)
    for _ in 0..<20_000 where count > 0 { try await Task.sleep(for: .milliseconds(2)) }
    #expect(count == 0)
  }

  /// Waits until there are this many.
  func isAtLeast(_ least: Int) async throws {
    for _ in 0..<20_000 where count < least { try await Task.sleep(for: .milliseconds(2)) }
    try #require(count >= least)
  }
}

/// Gives each call an object that lives for as long as any part of the call.
private final class MarkingServerInterceptor: EchoServerInterceptor {
  private final class Mark: Sendable {
    let live: LiveCount

    init(_ live: LiveCount) {
      self.live = live
      live.add(1)
    }

    deinit { live.add(-1) }
  }

  private enum MarkKey: UserInfoKey { typealias Value = Mark }

  /// The part at which it ends the call, instead of forwarding it.
  enum LastPart {
    case metadata, message
  }

  private let live: LiveCount
  private let last: LastPart?

  /// With `last`, it ends the call when the first such part arrives.
  init(_ live: LiveCount, endsWith last: LastPart? = nil) {
    self.live = live
    self.last = last
  }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    if case .metadata = part { context.userInfo[MarkKey.self] = Mark(live) }
    switch (part, last) {
    case (.metadata, .metadata), (.message, .message):
      context.send(.end(GRPCStatus(code: .aborted), HPACKHeaders()), promise: nil)
    default: context.receive(part)
    }
  }
}

/// Starts the handler of each call a second time, before the first has any requests.
private final class ReplacingServerInterceptor: EchoServerInterceptor {
  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    if case .metadata = part { context.receive(part) }
    context.receive(part)
  }
}

/// Keeps one kind of part, with its promise and its context, or all of them.
private final class KeepingClientInterceptor: EchoClientInterceptor {
  private let part: LeakTests.Swallower
  private let live: LiveCount
  private var kept: [Any] = []

  init(_ part: LeakTests.Swallower, _ live: LiveCount) {
    self.part = part
    self.live = live
    live.add(1)
  }

  deinit { live.add(-1) }

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    switch (part, self.part) {
    case (.metadata, .requestMetadata), (.end, .requestEnd): kept.append((part, promise, context))
    case (_, .requestMetadata): kept.append((part, promise, context))
    default: context.send(part, promise: promise)
    }
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    switch (part, self.part) {
    case (.metadata, .responseMetadata), (.end, .responseEnd): kept.append((part, context))
    default: context.receive(part)
    }
  }
}

/// Ends the call when its requests end, and reports how many interceptors are alive then.
private final class EndingServerInterceptor: EchoServerInterceptor {
  private let live: LiveCount
  private let log: Log

  init(_ live: LiveCount, _ log: Log) {
    (self.live, self.log) = (live, log)
    live.add(1)
  }

  deinit { live.add(-1) }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    guard case .end = part else { return context.receive(part) }
    context.send(.end(GRPCStatus(code: .aborted), HPACKHeaders()), promise: nil)
    log.note("\(live.count) live")
  }
}

private final class DoublingServerInterceptor: EchoServerInterceptor {
  override func send(
    _ part: GRPCServerResponsePart<Echo_EchoResponse>,
    promise: EventLoopPromise<Void>?,
    context: EchoServerContext
  ) {
    if case .message = part { context.send(part, promise: nil) }
    context.send(part, promise: promise)
  }
}

private final class KeepingServerInterceptor: EchoServerInterceptor {
  private let part: LeakTests.Swallower?
  private let live: LiveCount
  private var kept: [Any] = []

  init(_ part: LeakTests.Swallower?, _ live: LiveCount) {
    self.part = part
    self.live = live
    live.add(1)
  }

  deinit { live.add(-1) }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    switch (part, self.part) {
    case (.metadata, .requestMetadata), (.end, .requestEnd): kept.append((part, context))
    case (_, .requestMetadata), (_, nil): kept.append((part, context))
    default: context.receive(part)
    }
  }

  override func send(
    _ part: GRPCServerResponsePart<Echo_EchoResponse>,
    promise: EventLoopPromise<Void>?,
    context: EchoServerContext
  ) {
    switch (part, self.part) {
    case (.metadata, .responseMetadata), (.end, .responseEnd): kept.append((part, promise, context))
    case (_, nil): kept.append((part, promise, context))
    default: context.send(part, promise: promise)
    }
  }

  override func errorCaught(_ error: any Error, context: EchoServerContext) {
    if part == nil { kept.append((error, context)) } else { context.errorCaught(error) }
  }
}

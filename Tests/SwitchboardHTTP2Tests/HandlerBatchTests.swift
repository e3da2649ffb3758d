import CallTestSupport
import Dispatch
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardHTTP2

/// Calls that arrive together: their handlers share tasks, and notice nothing of each other.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HandlerBatchTests {
  private typealias Kind = FramePeer.Kind

  private static let binding: Batch.Interceptors = { [Binding()] }
  private static let plain: Batch.Interceptors = { [ServerInterceptor(), ServerInterceptor()] }
  private static let ending: Batch.Interceptors = { [Ending()] }

  /// Serves this many calls that arrive in one read, the first with the request 0, and passes what they recorded.
  private static func with(
    _ count: Int,
    _ options: ServerOptions = ServerOptions(),
    on group: LoopGroup? = nil,
    interceptors: Batch.Interceptors? = nil,
    headers: [(String, String)] = [],
    handling handler: @escaping Batch.Handler,
    then body: (FramePeer, Batch, Server) async throws -> Void
  ) async throws {
    let batch = Batch(interceptors, handler)
    let server = try Server(providers: [batch], options: options, group: try group ?? LoopGroup())
    let peer = try FramePeer(try server.bind(host: "127.0.0.1", port: 0))
    try #require(peer.settle())
    let calls = (0..<count).map { number in
      let head = FramePeer.block(FramePeer.request("/test.Batch/Get", [("number", "\(number)")] + headers))
      return FramePeer.frame(Kind.headers, 4, stream(number), head)
        + FramePeer.frame(Kind.data, 1, stream(number), [0, 0, 0, 0, 1, UInt8(number)])
    }
    peer.write(calls.flatMap { $0 })
    try await body(peer, batch, server)
    batch.released.fire()
    await server.shutDown(grace: .zero)
  }

  private static func stream(_ number: Int) -> UInt32 { UInt32(2 * number + 1) }

  /// The answers to calls, by their number, as they arrive: `nil` if a call failed.
  private static func answers(_ peer: FramePeer, _ count: Int) -> [Int: [UInt8]] {
    var answers: [Int: [UInt8]] = [:]
    var ended = 0
    while ended < count, let frame = peer.next() {
      let number = Int(frame.stream) / 2
      if frame.type == Kind.data { answers[number] = Array(frame.payload.dropFirst(5)) }
      if frame.type == Kind.headers, frame.endsStream { ended += 1 }
    }
    return answers
  }

  @Test func handlersThatDoNotSuspendShareATask() async throws {
    try await Self.with(5) { _, number, _ in
      [number]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 5) == [0: [0], 1: [1], 2: [2], 3: [3], 4: [4]])
      #expect(batch.started.map(\.number) == [0, 1, 2, 3, 4])
      #expect(Set(batch.started.map(\.task)).count == 1)
    }
  }

  @Test func aHandlerThatSuspendsKeepsItsTaskForItself() async throws {
    try await Self.with(5) { batch, number, _ in
      if number == 1 { await batch.released.wait() }
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 4) == [0: [0], 2: [2], 3: [3], 4: [4]])
      let tasks = batch.started.map(\.task)
      #expect(batch.started.map(\.number) == [0, 1, 2, 3, 4])
      #expect(tasks[0] == tasks[1] && tasks[2] == tasks[4] && tasks[1] != tasks[2])
      batch.released.fire()
      #expect(Self.answers(peer, 1) == [1: [1]])
    }
  }

  @Test func handlersThatAllSuspendRunConcurrently() async throws {
    try await Self.with(4) { batch, number, _ in
      await batch.released.wait()
      return [number]
    } then: { peer, batch, _ async throws in
      await batch.until { $0.count == 4 }
      #expect(Set(batch.started.map(\.task)).count == 4)
      batch.released.fire()
      #expect(Self.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
    }
  }

  @Test func aResetCancelsOneHandler() async throws {
    try await Self.with(4) { batch, number, _ in
      try await batch.hang(number)
    } then: { peer, batch, _ async throws in
      await batch.until { $0.count == 4 }
      peer.send(Kind.resetStream, 0, Self.stream(2), [0, 0, 0, 8])
      await batch.untilCancelled { $0.count == 1 }
      #expect(batch.cancelled == [2])
      batch.released.fire()
      #expect(Self.answers(peer, 3) == [0: [0], 1: [1], 3: [3]])
      #expect(batch.cancelled == [2])
    }
  }

  /// The first two handlers have already run in the task that is cancelled.
  @Test func aCancelledTaskServesNobodyElse() async throws {
    try await Self.with(5) { batch, number, _ in
      number == 2 ? try await batch.hang(number) : [number]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 4) == [0: [0], 1: [1], 3: [3], 4: [4]])
      peer.send(Kind.resetStream, 0, Self.stream(2), [0, 0, 0, 8])
      await batch.untilCancelled { $0.count == 1 }
      #expect(batch.cancelled == [2])
      #expect(batch.started.count == 5)
    }
  }

  @Test func aLostConnectionCancelsAllHandlers() async throws {
    try await Self.with(4) { batch, number, _ in
      number == 1 ? [number] : try await batch.hang(number)
    } then: { peer, batch, _ async throws in
      await batch.until { $0.count == 4 }
      // An error of the whole connection.
      peer.send(Kind.data, 0, 0, [0])
      await batch.untilCancelled { $0.count == 3 }
      #expect(batch.cancelled == [0, 2, 3])
    }
  }

  /// The handler ends without having suspended, so its task would be the next one's.
  @Test func aHandlerThatCancelsItsTaskCancelsNoOther() async throws {
    try await Self.with(4) { _, number, _ in
      if Task.isCancelled { return [255] }
      if number == 1 { withUnsafeCurrentTask { $0?.cancel() } }
      return [number]
    } then: { peer, _, _ async throws in
      #expect(Self.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
    }
  }

  @Test func aHandlerThatThrowsFailsAlone() async throws {
    try await Self.with(4) { _, number, _ in
      if number == 1 { throw GRPCStatus(code: .failedPrecondition, message: "no") }
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 4) == [0: [0], 2: [2], 3: [3]])
      #expect(Set(batch.started.map(\.task)).count == 1)
    }
  }

  @Test func whatAHandlerBindsIsNotSeenByTheNext() async throws {
    try await Self.with(4) { batch, number, _ in
      let before = Batch.local
      let during = await Batch.$local.withValue(number + 1) {
        // A task that outlives the call keeps the value, and no other handler gets it.
        if number == 1 {
          Task {
            await batch.released.wait()
            batch.left.withLock { $0 = Batch.local }
          }
        }
        if number == 2 { await Task.yield() }
        return Batch.local
      }
      return [before, during]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 4) == [0: [0, 1], 1: [0, 2], 2: [0, 3], 3: [0, 4]])
      batch.released.fire()
      while batch.left.withLock({ $0 == nil }) { await Task.yield() }
      #expect(batch.left.withLock { $0 } == 2)
    }
  }

  /// A handler behind interceptors starts where they pass the request on, in a task of its own.
  @Test func handlersInheritWhatInterceptorsBind() async throws {
    try await Self.with(3, interceptors: Self.binding) { _, number, _ in
      [number, Batch.local]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 3) == [0: [0, 100], 1: [1, 101], 2: [2, 102]])
      #expect(Set(batch.started.map(\.task)).count == 3)
    }
  }

  /// Behind interceptors that bind nothing.
  @Test func handlersBehindInterceptorsShareATask() async throws {
    try await Self.with(4, interceptors: Self.plain) { batch, number, _ in
      if number == 1 { await batch.released.wait() }
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 3) == [0: [0], 2: [2], 3: [3]])
      let tasks = batch.started.map(\.task)
      #expect(batch.started.map(\.number) == [0, 1, 2, 3])
      #expect(tasks[0] == tasks[1] && tasks[2] == tasks[3] && tasks[1] != tasks[2])
      batch.released.fire()
      #expect(Self.answers(peer, 1) == [1: [1]])
    }
  }

  /// Of a call, nothing is left for the next one: neither its metadata nor its failure.
  @Test func aChainServesOneCallAfterTheOther() async throws {
    let chains = Chains()
    let interceptors: Batch.Interceptors = { [Naming(chains)] }
    try await Self.with(4, interceptors: interceptors) { _, number, context in
      if number == 1 {
        context.setInitialMetadata(HPACKHeaders([("first", "1")]))
        context.setTrailers(HPACKHeaders([("last", "1")]))
        throw GRPCStatus(code: .failedPrecondition, message: "no")
      }
      return [number, context.headers.first(name: "number").flatMap { UInt8($0) } ?? 255]
    } then: { peer, batch, _ async throws in
      var ends: [[String: String]] = []
      var answers: [[UInt8]] = []
      var firsts: [String] = []
      while ends.count < 4, let frame = peer.next(Kind.headers, Kind.data) {
        if frame.type == Kind.data { answers.append(Array(frame.payload.dropFirst(5))) }
        guard frame.type == Kind.headers else { continue }
        let fields = peer.inflate(frame.payload)
        if let first = fields["first"] { firsts.append(first) }
        if frame.endsStream { ends.append(fields) }
      }
      #expect(answers == [[0, 0], [2, 2], [3, 3]])
      #expect(firsts == ["1"])
      #expect(ends.map { $0["grpc-status"] } == ["0", "9", "0", "0"])
      #expect(ends.map { $0["last"] } == [nil, "1", nil, nil])
      #expect(ends.map { $0["named"] } == ["0", "1", "2", "3"])
      #expect(Set(batch.started.map(\.task)).count == 1)
      // The second handler's metadata, which any thread may set, stays with its chain.
      #expect(chains.areReused == [false, true, false, true])
    }
  }

  /// An interceptor repeats the message of the first call, whose handler has answered by then.
  @Test func noCallReceivesTheRequestOfAnother() async throws {
    let chains = Chains()
    let calls = Counter()
    let interceptors: Batch.Interceptors = {
      calls.add(1)
      return switch calls.value {
      case 1: [Naming(chains), Doubling()]
      case 2: [Naming(chains), Reordering()]
      default: [Naming(chains)]
      }
    }
    try await Self.with(4, interceptors: interceptors) { _, number, _ in
      [number]
    } then: { peer, batch, _ async throws in
      // The second call's end comes before its message.
      #expect(Self.answers(peer, 4) == [0: [0], 2: [2], 3: [3]])
      #expect(batch.started.map(\.number) == [0, 2, 3])
      #expect(chains.areReused == [false, true, true, true])
    }
  }

  /// What a handler or an interceptor keeps remains the view of its own call.
  @Test(arguments: [false, true]) func aChainThatIsKeptServesNoOtherCall(byHandler: Bool) async throws {
    let chains = Chains(keepsContexts: !byHandler)
    let interceptors: Batch.Interceptors = { [Naming(chains)] }
    let kept = Locked<[ServerCallContext]>([])
    try await Self.with(3, interceptors: interceptors) { _, number, context in
      if byHandler { kept.withLock { $0.append(context) } }
      return [number]
    } then: { peer, _, _ async throws in
      #expect(Self.answers(peer, 3) == [0: [0], 1: [1], 2: [2]])
      #expect(chains.areReused == [false, false, false])
      let names = kept.withLock { $0.map { $0.headers.first(name: "number") } }
      #expect(names == (byHandler ? ["0", "1", "2"] : []))
    }
  }

  /// The transport of a call with a traceparent makes its metadata anew for each reader.
  @Test(arguments: Rewriting.Manner.allCases, [false, true])
  fileprivate func handlersSeeTheMetadataThatInterceptorsPass(_ manner: Rewriting.Manner, traced: Bool)
    async throws
  {
    let traceParent = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    let interceptors: Batch.Interceptors = { [Rewriting(manner)] }
    try await Self.with(3, interceptors: interceptors, headers: traced ? [traceParent] : []) {
      _,
      number,
      context in
      let headers = context.headers
      return [
        headers.first(name: "number").flatMap { UInt8($0) } ?? 255,
        headers.first(name: "added") == nil ? 0 : 1,
        headers.first(name: "traceparent") == nil ? 0 : 1,
      ]
    } then: { peer, _, _ async throws in
      let trace: UInt8 = traced ? 1 : 0
      let expected: (UInt8) -> [UInt8] =
        switch manner {
        case .same: { [$0, 0, trace] }
        case .adding: { [$0, 1, trace] }
        case .empty: { _ in [255, 0, 0] }
        case .anotherLater: { _ in [255, 1, 0] }
        }
      #expect(Self.answers(peer, 3) == [0: expected(0), 1: expected(1), 2: expected(2)])
    }
  }

  /// A chain with work outside of it serves one call.
  @Test func chainsWithExecutorsServeOneCall() async throws {
    let chains = Chains()
    let calls = Counter()
    let interceptors: Batch.Interceptors = {
      calls.add(1)
      return calls.value == 2 ? [Naming(chains), Hopping()] : [Naming(chains)]
    }
    try await Self.with(4, interceptors: interceptors) { _, number, _ in
      [number]
    } then: { peer, _, _ async throws in
      #expect(Self.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
      #expect(chains.areReused == [false, true, false, true])
    }
  }

  /// An interceptor ends each call as soon as its request has passed.
  @Test func aCallThatIsOverDoesNotStart() async throws {
    try await Self.with(3, interceptors: Self.ending) { _, number, _ in
      [number]
    } then: { peer, batch, _ async throws in
      for _ in 0..<3 { #expect(peer.nextHeaders()?.fields["grpc-status"] == "9") }
      #expect(batch.started.isEmpty)
    }
  }

  /// An interceptor starts each handler twice, the second time with another message, and the first one answers.
  @Test(arguments: [false, true]) func aRepeatedRequestStartsTwoHandlers(messageFirst: Bool) async throws {
    let repeating: Batch.Interceptors = { [Repeating(messageFirst: messageFirst)] }
    try await Self.with(3, interceptors: repeating) { _, number, _ in
      await Task.yield()
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 3) == [0: [0], 1: [1], 2: [2]])
      #expect(batch.started.map(\.number) == [0, 10, 1, 11, 2, 12])
    }
  }

  @Test func handlersOnAnotherExecutorHaveTheirOwnTasks() async throws {
    var options = ServerOptions()
    options.handlerExecutor = globalConcurrentExecutor
    try await Self.with(4, options) { _, number, _ in
      [number]
    } then: { peer, batch, _ async throws in
      #expect(Self.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
      #expect(Set(batch.started.map(\.task)).count == 4)
    }
  }

  /// A handler that never ends, even when it is cancelled, holds up no other.
  @Test func aHandlerThatDoesNotReturnDelaysNoOther() async throws {
    try await Self.with(4) { batch, number, _ in
      if number == 0 {
        try? await Task.sleep(for: .seconds(1000))
        await batch.released.wait()
      }
      return [number]
    } then: { peer, _, _ async throws in
      #expect(Self.answers(peer, 3) == [1: [1], 2: [2], 3: [3]])
    }
  }

  /// A handler that calls a service of the same process is answered before the next handler begins.
  @Test func aHandlerMayCallAnother() async throws {
    let group = try LoopGroup()
    let inner = try Channel(inProcess: [TestService()], group: group)
    try await Self.with(3) { _, number, _ in
      try await inner.call(TestService.get).unary([number])
    } then: { peer, _, _ async throws in
      #expect(Self.answers(peer, 3) == [0: [0], 1: [1], 2: [2]])
    }
    await inner.shutDown(grace: .zero)
  }

  /// Also while a batch waits for the handler of another stream.
  @Test func callsWithinTheProcessStartAtOnce() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let inner = Batch { _, number, _ in [number] }
    let channel = try Channel(inProcess: [inner], group: group)
    try await Self.with(3, on: group, interceptors: Self.binding) { _, number, _ in
      let call = Task.immediate(executorPreference: loop) {
        try await channel.call(Batch.get).unary([number])
      }
      let started = inner.started.count
      return [UInt8(started)] + (try await call.value)
    } then: { peer, _, _ async throws in
      #expect(Self.answers(peer, 3) == [0: [1, 0], 1: [2, 1], 2: [3, 2]])
    }
    await channel.shutDown(grace: .zero)
  }

  /// The second handler runs when the first has lost their connection, so it does not start; the first is cancelled as
  /// soon as it suspends.
  @Test func aHandlerThatClosesItsConnectionIsCancelled() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let connections = Locked<(@Sendable () -> Void)?>(nil)
    let batch = Batch { batch, number, context in
      connections.withLock { $0 }?()
      #expect(context.isCancelled && !Task.isCancelled)
      return try await batch.hang(number)
    }
    let server = try Server(providers: [batch], group: group)
    let core = server.core
    connections.withLock { $0 = { for connection in core.connections { connection.close(.connectionLost) } } }
    let peer = try FramePeer(try server.bind(host: "127.0.0.1", port: 0))
    try #require(peer.settle())
    let head = FramePeer.block(FramePeer.request("/test.Batch/Get"))
    peer.write(
      (0..<3).flatMap {
        FramePeer.frame(Kind.headers, 4, Self.stream($0), head)
          + FramePeer.frame(Kind.data, 1, Self.stream($0), [0, 0, 0, 0, 1, UInt8($0)])
      }
    )
    await batch.untilCancelled { $0.count == 1 }
    #expect(batch.started.map(\.number) == [0])
    await loop.onLoop {}
    await server.shutDown(grace: .zero)
  }

  @Test func aServerWaitsForHandlersOfABatch() async throws {
    try await Self.with(4) { batch, number, _ in
      if number % 2 == 1 { await batch.released.wait() }
      return [number]
    } then: { peer, batch, server async throws in
      await batch.until { $0.count == 4 }
      let stopping = Task { await server.shutDown(grace: .seconds(60)) }
      #expect(peer.next(Kind.goAway) != nil)
      batch.released.fire()
      let question = try #require(peer.next(Kind.ping))
      peer.send(Kind.ping, 1, 0, question.payload)
      #expect(Self.answers(peer, 2).keys.sorted() == [1, 3])
      withExtendedLifetime(peer) {}
      _ = peer.raw.readToEnd()
      await stopping.value
    }
  }
}

/// A service whose handler a test gives, and what its calls did.
private final class Batch: CallHandlerProvider {
  typealias Interceptors = @Sendable () -> [ServerInterceptor<[UInt8], [UInt8]>]
  typealias Handler = @Sendable (Batch, UInt8, ServerCallContext) async throws -> [UInt8]

  @TaskLocal static var local: UInt8 = 0
  static let get = MethodDescriptor(service: "test.Batch", method: "Get", type: .unary)

  private struct State {
    var started: [(number: UInt8, task: KeptTask)] = []
    var cancelled: [UInt8] = []
  }

  let released = Signal()
  let left = Locked<UInt8?>(nil)
  private let state = Locked(State())
  private let interceptors: Interceptors?
  private let handler: Handler

  init(_ interceptors: Interceptors? = nil, _ handler: @escaping Handler) {
    self.interceptors = interceptors
    self.handler = handler
  }

  var serviceName: String { "test.Batch" }

  var methodHandlers: [MethodHandler] {
    [
      Self.get.bytes.unaryHandler(interceptors: interceptors) {
        request,
        context in
        let number = request.first ?? 255
        let task = KeptTask()
        self.state.withLock { $0.started.append((number, task)) }
        return try await self.handler(self, number, context)
      }
    ]
  }

  /// Waits until it is cancelled or all are released.
  func hang(_ number: UInt8) async throws -> [UInt8] {
    let end = Signal()
    let released = released
    await withTaskCancellationHandler {
      let waiting = Task {
        await released.wait()
        end.fire()
      }
      await end.wait()
      waiting.cancel()
    } onCancel: {
      self.state.withLock { $0.cancelled.append(number) }
      end.fire()
    }
    return [number]
  }

  var started: [(number: UInt8, task: KeptTask)] { state.withLock { $0.started } }
  var cancelled: [UInt8] { state.withLock { $0.cancelled.sorted() } }

  func until(_ condition: ([(number: UInt8, task: KeptTask)]) -> Bool) async {
    while !condition(started) { await Task.yield() }
  }

  func untilCancelled(_ condition: ([UInt8]) -> Bool) async {
    while !condition(cancelled) { await Task.yield() }
  }
}

/// Binds a value that depends on the request around what the rest of the chain does.
private final class Binding: ServerInterceptor<[UInt8], [UInt8]> {
  private var number: UInt8 = 0

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    if case .message(let message) = part { number = message.first ?? 0 }
    Batch.$local.withValue(100 + number) { context.receive(part) }
  }
}

/// A task, which is kept, so that its address does not become another one's.
private struct KeptTask: Hashable, @unchecked Sendable {
  // Sendable because it is only compared.

  private let object: AnyObject?

  /// The task that runs.
  init() { object = withUnsafeCurrentTask { $0.map { unsafeBitCast($0, to: AnyObject.self) } } }

  static func == (one: KeptTask, other: KeptTask) -> Bool { one.object === other.object }

  func hash(into hasher: inout Hasher) { hasher.combine(object.map(ObjectIdentifier.init)) }
}

/// Which chains calls had.
private final class Chains: Sendable {
  private struct State: @unchecked Sendable {
    // Sendable because the chain is only compared.
    weak var last: AnyObject?
    var areReused: [Bool] = []
    var contexts: [ServerInterceptorContext<[UInt8], [UInt8]>] = []
  }

  private let state = Locked(State())
  private let keepsContexts: Bool

  init(keepsContexts: Bool = false) { self.keepsContexts = keepsContexts }

  /// Whether each call had the chain of the call before.
  var areReused: [Bool] { state.withLock { $0.areReused } }

  func note(_ context: ServerInterceptorContext<[UInt8], [UInt8]>) {
    let chain = context.chain as AnyObject
    state.withLock { state in
      state.areReused.append(state.last === chain)
      state.last = chain
      if keepsContexts { state.contexts.append(context) }
    }
  }
}

/// Names each call in its trailers as its metadata did.
private final class Naming: ServerInterceptor<[UInt8], [UInt8]> {
  private let chains: Chains
  private var name = "none"

  init(_ chains: Chains) { self.chains = chains }

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    if case .metadata(let headers) = part {
      name = headers.first(name: "number") ?? "none"
      chains.note(context)
    }
    context.receive(part)
  }

  override func send(
    _ part: GRPCServerResponsePart<[UInt8]>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    guard case .end(let status, var trailers) = part else { return context.send(part, promise: promise) }
    trailers.add(name: "named", value: name)
    context.send(.end(status, trailers), promise: promise)
  }
}

/// Passes on the metadata of requests, or other metadata.
private final class Rewriting: ServerInterceptor<[UInt8], [UInt8]> {
  enum Manner: CaseIterable { case same, adding, empty, anotherLater }

  private let manner: Manner

  init(_ manner: Manner) { self.manner = manner }

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    switch (part, manner) {
    case (.metadata(var headers), .adding):
      headers.add(name: "added", value: "1")
      context.receive(.metadata(headers))
    case (.metadata, .empty): context.receive(.metadata(HPACKHeaders()))
    case (.metadata, .anotherLater): break
    case (.message(let message), .anotherLater):
      // The client's metadata are released by then, and the new ones may have their place.
      context.eventLoop.execute {
        context.receive(.metadata(HPACKHeaders([("added", "1")])))
        context.receive(.message(message))
        context.receive(.end)
      }
    case (.end, .anotherLater): break
    default: context.receive(part)
    }
  }
}

/// Passes each message again after the end, changed.
private final class Doubling: ServerInterceptor<[UInt8], [UInt8]> {
  private var message: [UInt8] = []

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    if case .message(let message) = part { self.message = message.map { $0 + 100 } }
    context.receive(part)
    if case .end = part { context.receive(.message(message)) }
  }
}

/// Passes the end before the message.
private final class Reordering: ServerInterceptor<[UInt8], [UInt8]> {
  private var message: [UInt8] = []

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    if case .message(let message) = part { self.message = message } else { context.receive(part) }
    if case .end = part { context.receive(.message(message)) }
  }
}

/// Receives on a queue.
private final class Hopping: ServerInterceptor<[UInt8], [UInt8]> {
  private let executor = InterceptorExecutor(queue: DispatchQueue(label: "hopping"))
  override var requestExecutor: InterceptorExecutor? { executor }
}

/// Ends each call as soon as its request has passed.
private final class Ending: ServerInterceptor<[UInt8], [UInt8]> {
  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    context.receive(part)
    guard case .end = part else { return }
    context.send(.end(GRPCStatus(code: .failedPrecondition, message: "no"), HPACKHeaders()), promise: nil)
  }
}

/// Passes each request twice, the second time with another message, and the first response.
private final class Repeating: ServerInterceptor<[UInt8], [UInt8]> {
  /// Whether the second message arrives before its metadata.
  private let messageFirst: Bool
  private var message: [UInt8] = []
  private var isAnswered = false

  init(messageFirst: Bool) { self.messageFirst = messageFirst }

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    if case .message(let message) = part { self.message = message.map { $0 + 10 } }
    context.receive(part)
    guard case .end = part else { return }
    if messageFirst { context.receive(.message(message)) }
    context.receive(.metadata(HPACKHeaders()))
    if !messageFirst { context.receive(.message(message)) }
    context.receive(.end)
  }

  override func send(
    _ part: GRPCServerResponsePart<[UInt8]>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    if isAnswered { return }
    if case .end = part { isAnswered = true }
    context.send(part, promise: promise)
  }
}

import CallTestSupport
import Dispatch
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Chains of interceptors that serve the calls of a batch one after the other: nothing of a call reaches the next.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ChainReuseTests {
  private typealias Kind = FramePeer.Kind

  /// Of a call, nothing is left for the next one: neither its metadata nor its failure.
  @Test func aChainServesOneCallAfterTheOther() async throws {
    let chains = Chains()
    let interceptors: Batch.Interceptors = { [Naming(chains)] }
    try await Batch.with(4, interceptors: interceptors) { _, number, context in
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
      // An interceptor may have bound a task-local value, which is none of another call's business.
      #expect(Set(batch.started.map(\.task)).count == 4)
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
    try await Batch.with(4, interceptors: interceptors) { _, number, _ in
      [number]
    } then: { peer, batch, _ async throws in
      // The second call's end comes before its message.
      #expect(Batch.answers(peer, 4) == [0: [0], 2: [2], 3: [3]])
      #expect(batch.started.map(\.number) == [0, 2, 3])
      #expect(chains.areReused == [false, true, true, true])
    }
  }

  /// What a handler or an interceptor keeps remains the view of its own call.
  @Test(arguments: [false, true]) func aChainThatIsKeptServesNoOtherCall(byHandler: Bool) async throws {
    let chains = Chains(keepsContexts: !byHandler)
    let interceptors: Batch.Interceptors = { [Naming(chains)] }
    let kept = Locked<[ServerCallContext]>([])
    try await Batch.with(3, interceptors: interceptors) { _, number, context in
      if byHandler { kept.withLock { $0.append(context) } }
      return [number]
    } then: { peer, _, _ async throws in
      #expect(Batch.answers(peer, 3) == [0: [0], 1: [1], 2: [2]])
      #expect(chains.areReused == [false, false, false])
      let names = kept.withLock { $0.map { $0.headers.first(name: "number") } }
      #expect(names == (byHandler ? ["0", "1", "2"] : []))
    }
  }

  /// The transport of a call with a `traceparent` makes its metadata anew for each reader.
  @Test(arguments: Rewriting.Manner.allCases, [false, true])
  fileprivate func handlersSeeTheMetadataThatInterceptorsPass(_ manner: Rewriting.Manner, traced: Bool)
    async throws
  {
    let traceParent = ("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    let interceptors: Batch.Interceptors = { [Rewriting(manner)] }
    try await Batch.with(3, interceptors: interceptors, headers: traced ? [traceParent] : []) {
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
      #expect(Batch.answers(peer, 3) == [0: expected(0), 1: expected(1), 2: expected(2)])
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
    try await Batch.with(4, interceptors: interceptors) { _, number, _ in
      [number]
    } then: { peer, _, _ async throws in
      #expect(Batch.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
      #expect(chains.areReused == [false, true, false, true])
    }
  }

  /// Their messages have the same types, so only the methods tell the chains apart.
  @Test func callsOfAnotherMethodHaveAnotherChain() async throws {
    let chains = Chains()
    let group = try LoopGroup()
    await group.takeTime()
    try await withServer([Twins(chains)], group: group) { _, address async throws in
      let peer = try FramePeer(address)
      try #require(peer.settle())
      let calls = ["Plain", "Plain", "Tenfold", "Plain"].enumerated().map { number, method in
        let head = FramePeer.block(FramePeer.request("/test.Twins/\(method)"))
        return FramePeer.frame(Kind.headers, 4, Batch.stream(number), head)
          + FramePeer.frame(Kind.data, 1, Batch.stream(number), [0, 0, 0, 0, 1, UInt8(number)])
      }
      peer.write(calls.flatMap { $0 })
      #expect(Batch.answers(peer, 4) == [0: [0], 1: [1], 2: [20], 3: [3]])
      #expect(chains.areReused == [false, true, false, false])
    }
  }
}

/// A service with two methods that take and return the same type.
private struct Twins: CallHandlerProvider {
  private let chains: Chains

  init(_ chains: Chains) { self.chains = chains }

  var serviceName: String { "test.Twins" }

  var methodHandlers: [MethodHandler] {
    [("Plain", 1), ("Tenfold", 10)].map { name, factor in
      MethodDescriptor(service: "test.Twins", method: name, type: .unary).bytes
        .unaryHandler(interceptors: { [Naming(chains)] }) { request, _ in request.map { $0 * UInt8(factor) } }
    }
  }
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
    let chain = context.sideWorkChain as AnyObject
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

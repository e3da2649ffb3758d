import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Calls that arrive together: their handlers share tasks, and notice nothing of each other.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HandlerBatchTests {
  private typealias Kind = FramePeer.Kind

  private static let binding: Batch.Interceptors = { [Binding()] }
  private static let plain: Batch.Interceptors = { [ServerInterceptor(), ServerInterceptor()] }

  @Test func handlersThatDoNotSuspendShareATask() async throws {
    try await Batch.with(5) { _, number, _ in
      [number]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 5) == [0: [0], 1: [1], 2: [2], 3: [3], 4: [4]])
      #expect(batch.started.map(\.number) == [0, 1, 2, 3, 4])
      #expect(Set(batch.started.map(\.task)).count == 1)
    }
  }

  @Test func aHandlerThatSuspendsKeepsItsTaskForItself() async throws {
    try await Batch.with(5) { batch, number, _ in
      if number == 1 { await batch.released.wait() }
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 4) == [0: [0], 2: [2], 3: [3], 4: [4]])
      let tasks = batch.started.map(\.task)
      #expect(batch.started.map(\.number) == [0, 1, 2, 3, 4])
      #expect(tasks[0] == tasks[1] && tasks[2] == tasks[4] && tasks[1] != tasks[2])
      batch.released.fire()
      #expect(Batch.answers(peer, 1) == [1: [1]])
    }
  }

  @Test func handlersThatAllSuspendRunConcurrently() async throws {
    try await Batch.with(4) { batch, number, _ in
      await batch.released.wait()
      return [number]
    } then: { peer, batch, _ async throws in
      await batch.until { $0.count == 4 }
      #expect(Set(batch.started.map(\.task)).count == 4)
      batch.released.fire()
      #expect(Batch.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
    }
  }

  @Test func aResetCancelsOneHandler() async throws {
    try await Batch.with(4) { batch, number, _ in
      try await batch.hang(number)
    } then: { peer, batch, _ async throws in
      await batch.until { $0.count == 4 }
      peer.send(Kind.resetStream, 0, Batch.stream(2), [0, 0, 0, 8])
      await batch.untilCancelled { $0.count == 1 }
      #expect(batch.cancelled == [2])
      batch.released.fire()
      #expect(Batch.answers(peer, 3) == [0: [0], 1: [1], 3: [3]])
      #expect(batch.cancelled == [2])
    }
  }

  /// The first two handlers have already run in the task that is cancelled.
  @Test func aCancelledTaskServesNobodyElse() async throws {
    try await Batch.with(5) { batch, number, _ in
      number == 2 ? try await batch.hang(number) : [number]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 4) == [0: [0], 1: [1], 3: [3], 4: [4]])
      peer.send(Kind.resetStream, 0, Batch.stream(2), [0, 0, 0, 8])
      await batch.untilCancelled { $0.count == 1 }
      #expect(batch.cancelled == [2])
      #expect(batch.started.count == 5)
    }
  }

  @Test func aLostConnectionCancelsAllHandlers() async throws {
    try await Batch.with(4) { batch, number, _ in
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
    try await Batch.with(4) { _, number, _ in
      if Task.isCancelled { return [255] }
      if number == 1 { withUnsafeCurrentTask { $0?.cancel() } }
      return [number]
    } then: { peer, _, _ async throws in
      #expect(Batch.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
    }
  }

  @Test func aHandlerThatThrowsFailsAlone() async throws {
    try await Batch.with(4) { _, number, _ in
      if number == 1 { throw GRPCStatus(code: .failedPrecondition, message: "no") }
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 4) == [0: [0], 2: [2], 3: [3]])
      #expect(Set(batch.started.map(\.task)).count == 1)
    }
  }

  @Test func whatAHandlerBindsIsNotSeenByTheNext() async throws {
    try await Batch.with(4) { batch, number, _ in
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
      #expect(Batch.answers(peer, 4) == [0: [0, 1], 1: [0, 2], 2: [0, 3], 3: [0, 4]])
      batch.released.fire()
      while !Task.isCancelled, batch.left.withLock({ $0 == nil }) { await Task.yield() }
      #expect(batch.left.withLock { $0 } == 2)
    }
  }

  /// A handler behind interceptors starts where they pass the request on, in a task of its own.
  @Test func handlersInheritWhatInterceptorsBind() async throws {
    try await Batch.with(3, interceptors: Self.binding) { _, number, _ in
      [number, Batch.local]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 3) == [0: [0, 100], 1: [1, 101], 2: [2, 102]])
      #expect(Set(batch.started.map(\.task)).count == 3)
    }
  }

  /// Also behind interceptors that bind nothing, which nobody can know.
  @Test func handlersBehindInterceptorsHaveTheirOwnTasks() async throws {
    try await Batch.with(4, interceptors: Self.plain) { batch, number, _ in
      if number == 1 { await batch.released.wait() }
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 3) == [0: [0], 2: [2], 3: [3]])
      #expect(batch.started.map(\.number) == [0, 1, 2, 3])
      #expect(Set(batch.started.map(\.task)).count == 4)
      batch.released.fire()
      #expect(Batch.answers(peer, 1) == [1: [1]])
    }
  }

  /// An interceptor starts each handler twice, the second time with another message, and the first one answers.
  @Test(arguments: [false, true]) func aRepeatedRequestStartsTwoHandlers(messageFirst: Bool) async throws {
    let repeating: Batch.Interceptors = { [Repeating(messageFirst: messageFirst)] }
    try await Batch.with(3, interceptors: repeating) { _, number, _ in
      await Task.yield()
      return [number]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 3) == [0: [0], 1: [1], 2: [2]])
      #expect(batch.started.map(\.number) == [0, 10, 1, 11, 2, 12])
    }
  }

  @Test func handlersOnAnotherExecutorHaveTheirOwnTasks() async throws {
    var options = ServerOptions()
    options.handlerPlacements.standard = .executor(globalConcurrentExecutor)
    try await Batch.with(4, options) { _, number, _ in
      [number]
    } then: { peer, batch, _ async throws in
      #expect(Batch.answers(peer, 4) == [0: [0], 1: [1], 2: [2], 3: [3]])
      #expect(Set(batch.started.map(\.task)).count == 4)
    }
  }

  /// A handler that never ends, even when it is cancelled, holds up no other.
  @Test func aHandlerThatDoesNotReturnDelaysNoOther() async throws {
    try await Batch.with(4) { batch, number, _ in
      if number == 0 {
        try? await Task.sleep(for: .seconds(1000))
        await batch.released.wait()
      }
      return [number]
    } then: { peer, _, _ async throws in
      #expect(Batch.answers(peer, 3) == [1: [1], 2: [2], 3: [3]])
    }
  }

  /// A handler that calls a service of the same process is answered before the next handler begins.
  @Test func aHandlerMayCallAnother() async throws {
    let group = try LoopGroup()
    try await withChannel(try Channel(inProcess: [TestService()], group: group)) { inner async throws in
      try await Batch.with(3) { _, number, _ in
        try await inner.call(TestService.get).unary([number])
      } then: { peer, _, _ async throws in
        #expect(Batch.answers(peer, 3) == [0: [0], 1: [1], 2: [2]])
      }
    }
  }

  /// Also while a batch waits for the handler of another stream.
  @Test func callsWithinTheProcessStartAtOnce() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let inner = Batch { _, number, _ in [number] }
    try await withChannel(try Channel(inProcess: [inner], group: group)) { channel async throws in
      try await Batch.with(3, on: group, interceptors: Self.binding) { _, number, _ in
        let call = Task.immediate(executorPreference: loop) {
          try await channel.call(Batch.get).unary([number])
        }
        let started = inner.started.count
        return [UInt8(started)] + (try await call.value)
      } then: { peer, _, _ async throws in
        #expect(Batch.answers(peer, 3) == [0: [1, 0], 1: [2, 1], 2: [3, 2]])
      }
    }
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
    try await withServer([batch], group: group) { server, address async throws in
      let core = server.core
      connections.withLock {
        $0 = { for connection in core.connections { connection.close(.connectionLost) } }
      }
      let peer = try FramePeer(address)
      try #require(peer.settle())
      let head = FramePeer.block(FramePeer.request("/test.Batch/Get"))
      peer.write(
        (0..<3).flatMap {
          FramePeer.frame(Kind.headers, 4, Batch.stream($0), head)
            + FramePeer.frame(Kind.data, 1, Batch.stream($0), [0, 0, 0, 0, 1, UInt8($0)])
        }
      )
      await batch.untilCancelled { $0.count == 1 }
      #expect(batch.started.map(\.number) == [0])
      await loop.onLoop {}
    }
  }

  @Test func aServerWaitsForHandlersOfABatch() async throws {
    try await Batch.with(4) { batch, number, _ in
      if number % 2 == 1 { await batch.released.wait() }
      return [number]
    } then: { peer, batch, server async throws in
      await batch.until { $0.count == 4 }
      let stopping = Task { await server.shutDown(grace: .seconds(60)) }
      #expect(peer.next(Kind.goAway) != nil)
      batch.released.fire()
      let question = try #require(peer.next(Kind.ping))
      peer.send(Kind.ping, 1, 0, question.payload)
      #expect(Batch.answers(peer, 2).keys.sorted() == [1, 3])
      withExtendedLifetime(peer) {}
      _ = peer.raw.readToEnd()
      await stopping.value
    }
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

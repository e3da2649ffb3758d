import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// What handlers learn of a server's shutdown.
@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
  /// Calls in progress may take an hour: a watch must not.
  private static let grace = Duration.seconds(3600)

  @Test(arguments: [Wire.ipv4, .inProcess]) func aWatchEndsWithTheServer(_ wire: Wire) async throws {
    try await Watches.with(wire) { channel, server, _ async throws in
      var responses = channel.call(Watches.watch).serverStreaming([]).makeAsyncIterator()
      #expect(try await responses.next(isolation: nil) == [1])
      if wire == .inProcess {
        await channel.shutDown(grace: Self.grace)
      } else {
        await server.shutDown(grace: Self.grace)
      }
      let end = await status { _ = try await responses.next(isolation: nil) }
      #expect(end == GRPCStatus(code: .unavailable, message: "the server is shutting down"))
    }
  }

  @Test func aHandlerSeesTheShutdown() async throws {
    try await Watches.with { channel, server, service async throws in
      let answer = Task { try await channel.call(Watches.look).unary([]) }
      await service.isLooking.wait()
      let shutdown = Task { await server.shutDown(grace: Self.grace) }
      // Before the shutdown, in it, and for a handler that asks late.
      #expect(try await answer.value == [0, 1, 1])
      await shutdown.value
    }
  }

  /// What a handler has done must not be repeated on another server.
  @Test func aResultInTheGraceStands() async throws {
    try await Watches.with { channel, server, service async throws in
      let answer = Task { try await channel.call(Watches.commit).unary([]) }
      let refusal = Task { await status { _ = try await channel.call(Watches.commit).unary([1]) } }
      await service.isCommitting.wait()
      let shutdown = Task { await server.shutDown(grace: Self.grace) }
      // The second byte: whether it ran where its handler does.
      #expect(try await answer.value == [7, 1])
      #expect(await refusal.value == GRPCStatus(code: .aborted, message: "taken"))
      await shutdown.value
    }
  }

  @Test func aCancelledWatchEndsToo() async throws {
    try await Watches.with { channel, _, service async throws in
      let call = channel.call(Watches.watch).serverStreaming([])
      var responses = call.makeAsyncIterator()
      #expect(try await responses.next(isolation: nil) == [1])
      call.cancel()
      await service.hasLeft.wait()
    }
  }

  /// What waits for a shutdown is not kept after the call.
  @Test func aCallThatHasEndedWaitsForNoShutdown() async throws {
    try await Watches.with { channel, _, service async throws in
      _ = try await channel.call(Watches.register).unary([])
      while !Task.isCancelled, service.hasToken { await Task.yield() }
      #expect(!service.hasToken)
    }
  }
}

private final class Watches: CallHandlerProvider {
  static let watch = MethodDescriptor(service: "test.Watches", method: "Watch", type: .serverStreaming)
  static let look = MethodDescriptor(service: "test.Watches", method: "Look", type: .unary)
  static let commit = MethodDescriptor(service: "test.Watches", method: "Commit", type: .unary)
  static let register = MethodDescriptor(service: "test.Watches", method: "Register", type: .unary)

  final class Token: Sendable {}

  struct WeakToken: Sendable {
    weak var value: Token?
  }

  let isLooking = Signal()
  let isCommitting = Signal()
  private let commits = Locked(0)
  let hasLeft = Signal()
  private let weakToken = Locked(WeakToken())

  /// Whether anything still has what `register` has given to its handler of the shutdown.
  var hasToken: Bool { weakToken.withLock { $0.value != nil } }

  var serviceName: String { "test.Watches" }

  var methodHandlers: [MethodHandler] {
    [
      Self.watch.bytes.serverStreamingHandler { [hasLeft] _, responses, context in
        let (changes, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield([1])
        defer { hasLeft.fire() }
        try await context.untilShutdown {
          for await change in changes { try await responses.send(change) }
        }
        continuation.finish()
      },
      Self.look.bytes.unaryHandler { [isLooking] _, context in
        let before = context.isShuttingDown
        let begins = Signal()
        await context.withShutdownHandler {
          isLooking.fire()
          await begins.wait()
        } onShutdown: {
          begins.fire()
        }
        let isLate = Locked(false)
        await context.withShutdownHandler {
        } onShutdown: {
          isLate.withLock { $0 = true }
        }
        return [before, context.isShuttingDown, isLate.withLock { $0 }].map { $0 ? 1 : 0 }
      },
      Self.commit.bytes.unaryHandler { [self] request, context in
        let loop = context.eventLoop
        return try await context.untilShutdown {
          if self.commits.withLock({
            $0 += 1
            return $0 == 2
          }) {
            self.isCommitting.fire()
          }
          // Ends when the shutdown cancels the task.
          await withCheckedContinuation { continuation in
            Task {
              while !Task.isCancelled, !context.isShuttingDown { await Task.yield() }
              continuation.resume()
            }
          }
          if request == [1] { throw GRPCStatus(code: .aborted, message: "taken") }
          return [7, loop.inEventLoop ? 1 : 0]
        }
      },
      Self.register.bytes.unaryHandler { [self] _, context in
        let token = Token()
        weakToken.withLock { $0.value = token }
        await context.withShutdownHandler {
          await Task.yield()
        } onShutdown: {
          _ = token
        }
        return []
      },
    ]
  }

  static func with(
    _ wire: Wire = .ipv4,
    _ body: (Channel, Server, Watches) async throws -> Void
  ) async throws {
    let service = Watches()
    try await withPair([service], over: wire) { pair async throws in
      try await body(pair.channel, pair.server, service)
    }
  }
}

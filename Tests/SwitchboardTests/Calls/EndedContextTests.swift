import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardCall
import Testing

/// The context of a call that has ended.
@Suite(.timeLimit(.minutes(5))) struct EndedContextTests {
  /// Keeps the contexts of its calls.
  private final class Keeping: EchoingProvider {
    let contexts = Locked<[ServerCallContext]>([])

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      #expect(!context.isCancelled)
      contexts.withLock { $0.append(context) }
      return .with { $0.text = request.text }
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func aCallThatWasAnsweredHasEnded(_ wire: Wire) async throws {
    let provider = Keeping()
    try await withChannel(to: [provider], over: wire) { channel async throws in
      _ = try await Echo_EchoClient(channel: channel).get(Echo_EchoRequest("x"))
      let contexts = provider.contexts.withLock { $0 }
      let context = try #require(contexts.first)
      while !Task.isCancelled, !context.isCancelled { await Task.yield() }
      #expect(context.isCancelled)
    }
  }
}

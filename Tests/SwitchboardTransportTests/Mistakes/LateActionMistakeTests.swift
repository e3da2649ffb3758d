import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// What a handler, or a task that it leaves behind, does when it has no effect any more is in the log, with what to do.
@Suite(.timeLimit(.minutes(5))) struct LateActionMistakeTests {
  struct Way: Sendable, CustomTestStringConvertible {
    let wire: Wire
    let isGuarded: Bool
    var testDescription: String { "\(wire)\(isGuarded ? ", with an interceptor" : "")" }
  }

  static let ways = [Wire.ipv4, .inProcess].flatMap { wire in
    [Way(wire: wire, isGuarded: false), Way(wire: wire, isGuarded: true)]
  }

  private struct LetPass: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) {}
  }

  private final class Late: CallHandlerProvider {
    static let expand = MethodDescriptor(service: "test.Late", method: "Expand", type: .serverStreaming)
    static let good = MethodDescriptor(service: "test.Late", method: "Good", type: .serverStreaming)
    static let get = MethodDescriptor(service: "test.Late", method: "Get", type: .unary)
    static let head = MethodDescriptor(service: "test.Late", method: "Head", type: .unary)
    static let send = MethodDescriptor(service: "test.Late", method: "Send", type: .serverStreaming)
    static let read = MethodDescriptor(service: "test.Late", method: "Read", type: .clientStreaming)
    static let cancelled = MethodDescriptor(service: "test.Late", method: "Cancelled", type: .serverStreaming)

    /// Fires when the call has ended.
    let hasEnded = Signal()
    let isDone = Signal()
    let hasStarted = Signal()
    let error = Locked<(any Error)?>(nil)

    var serviceName: String { "test.Late" }

    private func after(_ work: @escaping @Sendable () async throws -> Void) {
      Task.detached { [self] in
        await hasEnded.wait()
        do { try await work() } catch { self.error.withLock { $0 = error } }
        isDone.fire()
      }
    }

    var methodHandlers: [MethodHandler] {
      [
        Self.expand.bytes.serverStreamingHandler { request, responses, context in
          try await responses.send(request)
          context.setInitialMetadata(["late": "1"])
          context.setCompression(.gzip)
          try await responses.send(request)
        },
        Self.good.bytes.serverStreamingHandler { request, responses, context in
          context.setInitialMetadata(["good": "1"])
          context.setCompression(.gzip)
          context.setTrailers(["good": "1"])
          try await responses.send(request)
          context.setTrailers(["good": "2"])
        },
        Self.get.bytes.unaryHandler { [self] request, context in
          after { context.setTrailers(["late": "1"]) }
          return request
        },
        Self.head.bytes.unaryHandler { [self] request, context in
          after { context.setInitialMetadata(["late": "1"]) }
          return request
        },
        Self.send.bytes.serverStreamingHandler { [self] request, responses, _ in
          after { try await responses.send(request) }
        },
        Self.read.bytes.clientStreamingHandler { [self] requests, _ in
          after { for try await _ in requests {} }
          return []
        },
        Self.cancelled.bytes.serverStreamingHandler { [self] request, responses, context in
          hasStarted.fire()
          await hasEnded.wait()
          context.setTrailers(["late": "1"])
          after { try await responses.send(request) }
        },
      ]
    }
  }

  private func entries(
    _ way: Way,
    _ body: (Channel, Late) async throws -> Void
  ) async throws -> [LogEntries.Entry] {
    let (entries, provider) = (LogEntries(), Late())
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    if way.isGuarded { options.interceptorFactories = [LetPass()] }
    try await withServer([provider], options: options) { _, address async throws in
      let channel =
        way.wire == .inProcess
        ? try Channel(inProcess: [provider], options: options) : try Channel(target: "\(address)")
      try await body(channel, provider)
      await channel.shutDown(grace: .zero)
    }
    return entries.all
  }

  /// Waits until the log has an entry, and ends the call's task before.
  private func lateEntries(
    _ way: Way,
    _ call: (Channel) async throws -> Void
  ) async throws -> (entries: [LogEntries.Entry], error: (any Error)?) {
    var error: (any Error)?
    let entries = try await entries(way) { channel, provider async throws in
      try await call(channel)
      // In the same process, and over a network, the server has ended a call when its client sees the end of the next one on
      // the same connection.
      _ = try await channel.call(Late.good).serverStreaming([1]).collected()
      provider.hasEnded.fire()
      await provider.isDone.wait()
      _ = try await channel.call(Late.good).serverStreaming([1]).collected()
      error = provider.error.withLock { $0 }
    }
    return (entries, error)
  }

  @Test(arguments: ways) func metadataAfterTheFirstResponse(_ way: Way) async throws {
    let entries = try await entries(way) { channel, _ async throws in
      #expect(try await channel.call(Late.expand).serverStreaming([1]).collected() == [[1], [1]])
    }
    let errors = entries.compactMap { $0.metadata["error"] }
    #expect(errors.first?.hasPrefix("setInitialMetadata was called after the metadata had been sent") == true)
    #expect(entries.first?.metadata["method"] == "/test.Late/Expand")
    #expect(entries.allSatisfy { $0.level == .warning })
  }

  /// One entry a second stands for all.
  @Test(arguments: ways) func whatIsSetInTimeIsNotReported(_ way: Way) async throws {
    let entries = try await entries(way) { channel, _ async throws in
      for _ in 0..<20 {
        #expect(try await channel.call(Late.good).serverStreaming([1]).collected() == [[1]])
      }
    }
    #expect(entries.isEmpty)
  }

  @Test(arguments: ways) func trailersAfterTheEnd(_ way: Way) async throws {
    let (entries, _) = try await lateEntries(way) { _ = try await $0.call(Late.get).unary([1]) }
    #expect(
      entries.first?.metadata["error"]?.hasPrefix("setTrailers was called after the call had ended") == true
    )
    #expect(entries.count == 1)
  }

  /// A call that has chosen nothing tells nothing of its headers.
  @Test(arguments: ways) func initialMetadataAfterTheEnd(_ way: Way) async throws {
    let (entries, _) = try await lateEntries(way) { _ = try await $0.call(Late.head).unary([1]) }
    #expect(
      entries.first?.metadata["error"]?.hasPrefix(
        "setInitialMetadata was called after the metadata had been sent"
      ) == true
    )
    #expect(entries.count == 1)
  }

  @Test(arguments: ways) func aMessageAfterTheHandler(_ way: Way) async throws {
    let (entries, _) = try await lateEntries(way) { channel async throws in
      #expect(try await channel.call(Late.send).serverStreaming([1]).collected().isEmpty)
    }
    #expect(
      entries.first?.metadata["error"]?.hasPrefix("a message was sent after the handler had returned") == true
    )
    #expect(entries.first?.metadata["method"] == "/test.Late/Send")
    #expect(entries.count == 1)
  }

  @Test(arguments: ways) func requestsAfterTheHandler(_ way: Way) async throws {
    let (entries, error) = try await lateEntries(way) { channel async throws in
      let endless = AsyncStream<[UInt8]> { _ in }
      _ = try await channel.call(Late.read).clientStreaming(endless)
    }
    #expect(
      entries.first?.metadata["error"]?.hasPrefix("requests were read after the handler had returned") == true
    )
    #expect(entries.count == 1)
    #expect(error != nil)
  }

  /// The client is to blame, and the handler does nothing wrong.
  @Test(arguments: ways) func aCallThatItsClientCancelsIsNotReported(_ way: Way) async throws {
    let entries = try await entries(way) { channel, provider async throws in
      let call = channel.call(Late.cancelled).makeServerStreamingCall([1])
      await provider.hasStarted.wait()
      call.cancel()
      _ = try await channel.call(Late.good).serverStreaming([1]).collected()
      provider.hasEnded.fire()
      await provider.isDone.wait()
      _ = try await channel.call(Late.good).serverStreaming([1]).collected()
    }
    #expect(entries.isEmpty)
  }
}

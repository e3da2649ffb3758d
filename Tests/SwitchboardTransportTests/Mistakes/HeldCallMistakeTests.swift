import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// An interceptor of a server that keeps a call is named in the log when the call ends.
@Suite(.timeLimit(.minutes(5))) struct HeldCallMistakeTests {
  /// What the interceptor does not pass on.
  enum Part: CaseIterable { case metadata, end, answer, request, response }

  private struct LetPass: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) {}
  }

  private final class Holding: ServerInterceptor<[UInt8], [UInt8]> {
    private let held: Part
    private let isHolding: Signal

    init(_ held: Part, _ isHolding: Signal) {
      self.held = held
      self.isHolding = isHolding
    }

    override func receive(
      _ part: GRPCServerRequestPart<[UInt8]>,
      context: ServerInterceptorContext<[UInt8], [UInt8]>
    ) {
      switch (part, held) {
      case (.metadata, .metadata), (.end, .end): isHolding.fire()
      case (.message, .request): break
      default: context.receive(part)
      }
    }

    override func send(
      _ part: GRPCServerResponsePart<[UInt8]>,
      promise: EventLoopPromise<Void>?,
      context: ServerInterceptorContext<[UInt8], [UInt8]>
    ) {
      switch (part, held) {
      case (.end, .answer): isHolding.fire()
      case (.message, .response): break
      default: context.send(part, promise: promise)
      }
    }
  }

  private struct Held: CallHandlerProvider {
    static let get = MethodDescriptor(service: "test.Held", method: "Get", type: .unary)
    static let collect = MethodDescriptor(service: "test.Held", method: "Collect", type: .clientStreaming)
    static let slow = MethodDescriptor(service: "test.Held", method: "Slow", type: .unary)

    let part: Part
    let isHolding = Signal()

    var serviceName: String { "test.Held" }

    var methodHandlers: [MethodHandler] {
      let make: @Sendable () -> [ServerInterceptor<[UInt8], [UInt8]>] = { [Holding(part, isHolding)] }
      let passing: @Sendable () -> [ServerInterceptor<[UInt8], [UInt8]>] = { [ServerInterceptor()] }
      return [
        Self.get.bytes.unaryHandler(interceptors: make) { request, _ in request },
        Self.collect.bytes.clientStreamingHandler(interceptors: make) { requests, _ in
          for try await _ in requests {}
          return []
        },
        Self.slow.bytes.unaryHandler(interceptors: passing) { request, _ in
          isHolding.fire()
          try await Task.sleep(for: .seconds(3600))
          return request
        },
      ]
    }
  }

  /// What the log and the client of a call learn whose deadline passes.
  private func end(
    of method: MethodDescriptor,
    holding part: Part,
    _ wire: Wire
  ) async throws -> (entries: [LogEntries.Entry], message: String) {
    let (entries, provider, group) = (LogEntries(), Held(part: part), try LoopGroup())
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    options.interceptorFactories = [LetPass()]
    options.blockedLoopLimit = nil
    return try await withPair([provider], over: wire, options: options, group: group) { pair async throws in
      let timeout = CallOptions(timeout: .seconds(600))
      let call = Task {
        await status {
          let call = pair.channel.call(method, options: timeout)
          _ = try await method.type == .unary ? call.unary([1]) : call.clientStreaming([[1]])
        }
      }
      await provider.isHolding.wait()
      await group.loops[0].advance(by: .seconds(601))
      let end = await call.value
      #expect(end?.code == .deadlineExceeded)
      return (entries.all, end?.message ?? "")
    }
  }

  @Test(arguments: [Part.metadata, .end, .answer], [Wire.ipv4, .inProcess])
  func theLogNamesTheInterceptor(_ part: Part, _ wire: Wire) async throws {
    let (entries, message) = try await end(of: Held.get, holding: part, wire)
    #expect(entries.map { $0.metadata["interceptors"] } == ["Holding"])
    #expect(entries.first?.message.contains("a call ended while an interceptor held it") == true)
    #expect(entries.first?.metadata["method"] == "/test.Held/Get")
    #expect(message.hasSuffix("while an interceptor of the server held the call"))
  }

  @Test(arguments: [Part.metadata, .end]) func aHeldStreamIsNamedToo(_ part: Part) async throws {
    let (entries, message) = try await end(of: Held.collect, holding: part, .ipv4)
    #expect(entries.map { $0.metadata["interceptors"] } == ["Holding"])
    #expect(message.hasSuffix("while an interceptor of the server held the call"))
  }

  /// A call ends at once that lacks its request or its response.
  @Test(arguments: [Part.request, .response], [Wire.ipv4, .inProcess])
  func aMessageThatIsNotPassedOnIsLogged(_ part: Part, _ wire: Wire) async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    options.interceptorFactories = [LetPass()]
    let failure = try await withChannel(to: [Held(part: part)], over: wire, options: options) {
      channel async throws in
      await status { _ = try await channel.call(Held.get).unary([1]) }
    }
    #expect(failure?.code == .internalError)
    #expect(entries.all.map { $0.metadata["interceptors"] } == ["Holding"])
    #expect(entries.all.first?.level == .error)
    #expect(
      entries.all.first?.metadata["error"]?.contains("an interceptor left out a part of the call") == true
    )
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func interceptorsOfASlowHandlerAreNotBlamed(_ wire: Wire)
    async throws
  {
    let (entries, message) = try await end(of: Held.slow, holding: .end, wire)
    #expect(entries.isEmpty)
    #expect(message.contains("handler"))
  }
}

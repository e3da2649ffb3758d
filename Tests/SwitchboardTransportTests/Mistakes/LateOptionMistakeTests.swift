import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardTransport
import Testing

/// Options that an interceptor of a client changes after it has passed the metadata on have no effect in any call.
@Suite(.timeLimit(.minutes(5))) struct LateOptionMistakeTests {
  /// Makes `change`, before or after the metadata is passed on.
  private struct Change {
    let isLate: Bool
    let change: @Sendable (inout CallOptions) -> Void
    var path: String?
  }

  private final class Changer: ClientInterceptor<[UInt8], [UInt8]> {
    private let change: Change

    init(_ change: Change) { self.change = change }

    override func send(
      _ part: GRPCClientRequestPart<[UInt8]>,
      promise: EventLoopPromise<Void>?,
      context: ClientInterceptorContext<[UInt8], [UInt8]>
    ) {
      guard case .metadata = part else { return context.send(part, promise: promise) }
      if change.isLate { context.send(part, promise: promise) }
      var options = context.options
      change.change(&options)
      context.options = options
      if let path = change.path { context.path = path }
      if !change.isLate { context.send(part, promise: promise) }
    }
  }

  /// The calls of one client, through the interceptor.
  private struct Calls {
    let channel: Channel
    let change: Change

    private func call(_ method: MethodDescriptor, _ options: CallOptions?) -> MethodCall<
      BytesMarshaller, BytesMarshaller
    > {
      MethodCall(
        method.bytes,
        on: channel,
        options: options,
        interceptors: CallInterceptors([Changer(change)])
      )
    }

    func get(options: CallOptions? = nil) async throws -> [UInt8] {
      try await call(TestService.get, options).unary([1, 2, 3])
    }

    func update() async throws -> [[UInt8]] {
      try await call(TestService.update, nil).bidirectionalStreaming([[1, 2]]).collected()
    }
  }

  private func with(
    _ change: Change,
    _ wire: Wire = .ipv4,
    _ body: (Calls) async throws -> Void
  ) async throws -> [LogEntries.Entry] {
    let entries = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await TestPair.with(wire, channel: options) { pair async throws in
      try await body(Calls(channel: pair.channel, change: change))
    }
    return entries.all
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func lateOptionsHaveNoEffect(_ wire: Wire) async throws {
    let change = Change(
      isLate: true,
      change: {
        $0.responseSizeLimit = 1
        $0.waitForReady = true
      },
      path: "/test.Test/Missing"
    )
    let entries = try await with(change, wire) { calls async throws in
      for _ in 0..<2 {
        #expect(try await calls.get() == [1, 2, 3])
        #expect(try await calls.update() == [[1, 2]])
      }
    }
    #expect(
      entries.map { $0.metadata["method"] } == ["Get", "Get", "Update", "Update"].map { "/test.Test/\($0)" }
    )
    #expect(
      entries.map { $0.metadata["changed"] }
        == ["waitForReady, responseSizeLimit", "path", "waitForReady, responseSizeLimit", "path"]
    )
    #expect(entries.allSatisfy { $0.metadata["interceptor"] == "Changer" })
    #expect(entries.first?.message.contains("after it had passed the metadata on, without effect") == true)
  }

  @Test func earlyOptionsHaveTheirEffect() async throws {
    let change = Change(isLate: false, change: { $0.responseSizeLimit = 1 })
    let entries = try await with(change) { calls async throws in
      #expect(await status { _ = try await calls.get() }?.code == .resourceExhausted)
      #expect(await status { _ = try await calls.update() }?.code == .resourceExhausted)
    }
    #expect(entries.isEmpty)
  }

  /// Interceptors read the logger and the safety for as long as the call lasts.
  @Test func whatOnlyInterceptorsReadMayChangeLater() async throws {
    let change = Change(
      isLate: true,
      change: {
        $0.logger = .quiet
        $0.logContext = ["a": "b"]
        $0.safety = .cacheableRequest
      }
    )
    let entries = try await with(change) { calls async throws in
      #expect(try await calls.get(options: CallOptions(timeout: .seconds(60))) == [1, 2, 3])
      #expect(try await calls.update() == [[1, 2]])
    }
    #expect(entries.isEmpty)
  }
}

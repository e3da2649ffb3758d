import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Answers before the requests have ended: what the server has decided counts, and not that the caller could send no more.
/// With interceptors on either side, as without.
@Suite(.timeLimit(.minutes(5))) struct EarlyAnswerTests {
  struct Way: Sendable, CustomTestStringConvertible {
    var wire = Wire.ipv4
    var isClientIntercepted = false
    var isServerIntercepted = false

    var testDescription: String {
      "\(wire), interceptors of the client: \(isClientIntercepted), of the server: \(isServerIntercepted)"
    }

    static let all = [Wire.ipv4, .inProcess].flatMap { wire in
      [(false, false), (true, false), (false, true), (true, true)].map {
        Way(wire: wire, isClientIntercepted: $0, isServerIntercepted: $1)
      }
    }

    func call(_ method: MethodDescriptor, on channel: Channel) -> MethodCall<BytesMarshaller, BytesMarshaller>
    {
      let chain = CallInterceptors([ClientInterceptor<[UInt8], [UInt8]>()])
      return MethodCall(method.bytes, on: channel, interceptors: isClientIntercepted ? chain : nil)
    }

    func with(_ body: (Channel) async throws -> Void) async throws {
      let service = Hasty(isIntercepted: isServerIntercepted)
      try await withChannel(to: [service], over: wire, body)
    }
  }

  private static let request = [UInt8](repeating: 0, count: 10_000)

  /// Never ends.
  private var requests: AsyncStream<[UInt8]> { AsyncStream { Task.isCancelled ? nil : Self.request } }

  @Test(arguments: Way.all) func anEarlyResponseIsTheAnswer(_ way: Way) async throws {
    try await way.with { channel async throws in
      #expect(try await way.call(Hasty.answer, on: channel).clientStreaming(requests) == [42])
      let answer = try await way.call(Hasty.answer, on: channel).makeClientStreamingCall().use { call in
        while true { try await call.requestStream.send(Self.request) }
      }
      #expect(answer == [42])
    }
  }

  @Test(arguments: Way.all) func anEarlyFailureIsTheAnswer(_ way: Way) async throws {
    try await way.with { channel async throws in
      let awaited = await status {
        _ = try await way.call(Hasty.refuse, on: channel).clientStreaming(requests)
      }
      #expect(awaited == Hasty.refusal)
      let scoped = await status {
        _ = try await way.call(Hasty.refuse, on: channel).makeClientStreamingCall().use { call in
          while true { try await call.requestStream.send(Self.request) }
        }
      }
      #expect(scoped == Hasty.refusal)
    }
  }

  @Test(arguments: Way.all) func aDialogueMayEndEarly(_ way: Way) async throws {
    try await way.with { channel async throws in
      let responses = way.call(Hasty.leave, on: channel).bidirectionalStreaming(requests)
      #expect(try await responses.collected() == [[1]])
      var read: [[UInt8]] = []
      let failed = way.call(Hasty.quarrel, on: channel).bidirectionalStreaming(requests)
      let failure = await status { for try await response in failed { read.append(response) } }
      #expect(read == [[1]])
      #expect(failure == Hasty.refusal)
    }
  }
}

/// Answers without reading its requests to their end.
private struct Hasty: CallHandlerProvider {
  let isIntercepted: Bool

  static let answer = MethodDescriptor(service: "test.Hasty", method: "Answer", type: .clientStreaming)
  static let refuse = MethodDescriptor(service: "test.Hasty", method: "Refuse", type: .clientStreaming)
  static let leave = MethodDescriptor(service: "test.Hasty", method: "Leave", type: .bidirectionalStreaming)
  static let quarrel = MethodDescriptor(
    service: "test.Hasty",
    method: "Quarrel",
    type: .bidirectionalStreaming
  )
  static let refusal = GRPCStatus(code: .resourceExhausted, message: "enough")

  var serviceName: String { "test.Hasty" }

  var methodHandlers: [MethodHandler] {
    let interceptors: (@Sendable () -> [ServerInterceptor<[UInt8], [UInt8]>])? =
      isIntercepted ? { @Sendable in [ServerInterceptor<[UInt8], [UInt8]>()] } : nil
    return [
      Self.answer.bytes.clientStreamingHandler(interceptors: interceptors) { requests, _ in
        for try await _ in requests { break }
        return [42]
      },
      Self.refuse.bytes.clientStreamingHandler(interceptors: interceptors) { _, _ in throw Self.refusal },
      Self.leave.bytes.bidirectionalStreamingHandler(interceptors: interceptors) { requests, responses, _ in
        for try await _ in requests { break }
        try await responses.send([1])
      },
      Self.quarrel.bytes.bidirectionalStreamingHandler(interceptors: interceptors) { _, responses, _ in
        try await responses.send([1])
        throw Self.refusal
      },
    ]
  }
}

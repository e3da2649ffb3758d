import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// A sequence of requests that throws cancels its call, and its error comes back as the cause of the status.
@Suite(.timeLimit(.minutes(5))) struct ThrowingRequestsMistakeTests {
  private struct Broken: Error, Equatable {
    var line = 7
  }

  private func requests(_ error: any Error) -> AsyncThrowingStream<[UInt8], any Error> {
    AsyncThrowingStream { continuation in
      continuation.yield([1])
      continuation.finish(throwing: error)
    }
  }

  private func statuses(
    _ channel: Channel,
    _ error: any Error,
    _ chain: () -> CallInterceptors<[UInt8], [UInt8]>?
  ) async -> [GRPCStatus?] {
    func call(_ method: MethodDescriptor) -> MethodCall<BytesMarshaller, BytesMarshaller> {
      MethodCall(method.bytes, on: channel, interceptors: chain())
    }
    return [
      await status { _ = try await call(TestService.collect).clientStreaming(requests(error)) },
      await status {
        _ = try await call(TestService.update).bidirectionalStreaming(requests(error)).collected()
      },
    ]
  }

  @Test(arguments: [Wire.ipv4, .inProcess], [false, true])
  func theCallIsCancelledWithTheCause(_ wire: Wire, isIntercepted: Bool) async throws {
    try await TestPair.with(wire) { pair async throws in
      let all = await statuses(pair.channel, Broken()) {
        isIntercepted ? CallInterceptors([ClientInterceptor<[UInt8], [UInt8]>()]) : nil
      }
      for status in all {
        #expect(status?.code == .cancelled)
        #expect(
          status?.message
            == "the caller's sequence of requests threw an error, which cancelled the call: Broken(line: 7)"
        )
        #expect(status?.cause as? Broken == Broken())
      }
    }
  }

  /// As the status of another call, whose responses are the requests of this one.
  @Test func anErrorThatDeterminesAStatusIsThatStatus() async throws {
    try await TestPair.with { pair async throws in
      let known = GRPCStatus(code: .dataLoss, message: "not stored")
      #expect(await statuses(pair.channel, known) { nil } == [known, known])
      let cancelled = await statuses(pair.channel, CancellationError()) { nil }
      #expect(cancelled == [.cancelledByCaller, .cancelledByCaller])
    }
  }

  @Test func aStatusKeepsItsCauseWhenItsMessageChanges() async throws {
    try await TestPair.with(.inProcess) { pair async throws in
      var status = try #require(await statuses(pair.channel, Broken()) { nil }.first ?? nil)
      status.message = "OK"
      status.packedDetails = nil
      #expect(status.cause as? Broken == Broken())
      #expect(GRPCStatus(code: .cancelled, message: "OK").cause == nil)
      #expect(status == GRPCStatus(code: .cancelled, message: "OK"))
    }
  }
}

import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Metadata sent before the first message, and calls that start without messages.
@Suite(.timeLimit(.minutes(5))) struct EarlyMetadataTests {
  private let bytes = BytesMarshaller()

  @Test(arguments: Wire.allCases) func aStreamingCallOpensBeforeItsFirstMessage(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      let call = pair.channel.call(TestService.greet).makeBidirectionalStreamingCall()
      #expect(try await call.initialMetadata["one"] == ["1"])
      var responses = call.responseStream.makeAsyncIterator()
      try await call.requestStream.send([7])
      #expect(try await responses.next(isolation: nil) == [7])
      call.requestStream.finish()
      #expect(try await responses.next(isolation: nil) == nil)
      #expect(await call.status == .ok)
    }
  }

  @Test(arguments: Wire.allCases, [TestService.greetOnce, TestService.greetThroughInterceptors])
  func aUnaryHandlerCanSendItsMetadataFirst(_ wire: Wire, _ method: MethodDescriptor) async throws {
    try await TestPair.with(wire) { pair async throws in
      let call = pair.channel.call(method).makeUnaryCall([5])
      #expect(try await call.initialMetadata["one"] == ["1"])
      pair.service.released.fire()
      #expect(try await call.response == [5])
      #expect(await call.status == .ok)
    }
  }
}

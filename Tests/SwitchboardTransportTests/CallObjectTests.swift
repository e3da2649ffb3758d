import CallTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CallObjectTests {
  private let bytes = BytesMarshaller()

  @Test func aUnaryCallKnowsItsMetadataTrailersAndStatus() async throws {
    try await TestPair.with { pair async throws in
      let options = CallOptions(initialMetadata: ["one": "1"])
      let call = pair.channel.call(TestService.reflect, options: options).makeUnaryCall([])
      #expect(try await !call.response.isEmpty)
      #expect(try await call.initialMetadata["one"] == ["1"])
      #expect(try await call.trailingMetadata["one"] == ["1"])
      #expect(await call.status == .ok)
    }
  }

  @Test func everyPartOfAFailedCallThrowsItsStatus() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.fail).makeUnaryCall([65])
      let expected = GRPCStatus(code: .failedPrecondition, message: "A")
      #expect(await call.status == expected)
      await #expect(throws: expected) { try await call.response }
      await #expect(throws: expected) { try await call.initialMetadata }
      #expect(try await call.trailingMetadata["why"] == ["asked to"])
    }
  }

  @Test func requestsAreWrittenOneByOne() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.collect).makeClientStreamingCall()
      for byte in 0..<10 as Range<UInt8> { try await call.requestStream.send([byte]) }
      call.requestStream.finish()
      #expect(try await call.response == Array(0..<10))
      await #expect(throws: GRPCStatus.self) { try await call.requestStream.send([1]) }
    }
  }

  @Test func aBidirectionalCallAlternatesMessages() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.update).makeBidirectionalStreamingCall()
      var responses = call.responseStream.makeAsyncIterator()
      for byte in 0..<10 as Range<UInt8> {
        try await call.requestStream.send([byte])
        #expect(try await responses.next(isolation: nil) == [byte])
      }
      call.requestStream.finish()
      #expect(try await responses.next(isolation: nil) == nil)
      #expect(await call.status == .ok)
      #expect(try await call.initialMetadata["content-type"] == ["application/grpc"])
    }
  }

  @Test func aStreamOfResponsesCanBeCancelled() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.flood).makeServerStreamingCall([])
      var responses = call.responseStream.makeAsyncIterator()
      _ = try await responses.next(isolation: nil)
      call.cancel()
      #expect(await call.status.code == .cancelled)
    }
  }
}

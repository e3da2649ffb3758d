import CallTestSupport
import EchoService
import Switchboard
import Testing

/// Call objects that are used out of order: an error says so, and the call continues.
@Suite(.timeLimit(.minutes(5))) struct MisusedCallTests {
  @Test(arguments: [false, true]) func writingAfterTheEndThrows(_ intercepted: Bool) async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = intercepted ? pair.client { [ClientRecorder("i", log)] } : pair.client()
      let call = client.makeCollectCall()
      try await call.requestStream.send(Echo_EchoRequest("x"))
      call.requestStream.finish()
      call.requestStream.finish()
      for _ in 0..<20 {
        let refused = await status { try await call.requestStream.send(Echo_EchoRequest("late")) }
        #expect(refused?.code == .failedPrecondition)
      }
      call.requestStream.finish()
      #expect(try await call.response.text == "x")
      #expect(await call.status.isOk)
    }
    // The chain sees neither the late messages nor a second end.
    let requests = intercepted ? ["i > metadata", "i > x", "i > end"] : []
    #expect(log.lines.filter { $0.hasPrefix("i >") } == requests)
  }

  @Test(arguments: [false, true]) func writingAfterTheEndOnTheCallsLoopThrows(_ intercepted: Bool)
    async throws
  {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = intercepted ? pair.client { [ClientRecorder("i", log)] } : pair.client()
      let refused = await Task(executorPreference: pair.channel.eventLoop) {
        await status {
          let call = client.makeUpdateCall()
          call.requestStream.finish()
          try await call.requestStream.send(Echo_EchoRequest("late"))
        }
      }.value
      #expect(refused?.code == .failedPrecondition)
    }
    #expect(!log.lines.contains("i > late"))
  }

  @Test(arguments: [false, true]) func aSecondReaderOfTheResponsesFails(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      let client = intercepted ? pair.client { [ClientHook()] } : pair.client()
      let call = client.makeUpdateCall()
      let refusals = Log()
      let readers = (0..<2).map { _ in
        Task {
          let refused = await status { for try await _ in call.responseStream {} }
          refusals.note("\(refused?.code.description ?? "none")")
        }
      }
      // One reader fails; the other reads to the end.
      #expect(try await refusals.lines(atLeast: 1) == ["failed precondition (9)"])
      call.cancel()
      for reader in readers { await reader.value }
    }
  }

  @Test(arguments: [false, true]) func aStreamingMethodHasNoSingleResponse(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      func call(_ method: String, _ type: GRPCCallType) -> MethodCall<BytesMarshaller, BytesMarshaller> {
        let descriptor = MethodDescriptor(service: "echo.Echo", method: method, type: type)
        let method = Method(descriptor, requests: BytesMarshaller(), responses: BytesMarshaller())
        let chain = CallInterceptors([ClientInterceptor<[UInt8], [UInt8]>()])
        return MethodCall(method, on: pair.channel, interceptors: intercepted ? chain : nil)
      }
      let refusal =
        "/echo.Echo/Expand was called with the wrong form: the type of the method is serverStreaming"
      let unary = await status { _ = try await call("Expand", .serverStreaming).unary([]) }
      #expect(unary == GRPCStatus(code: .failedPrecondition, message: refusal))
      let object = call("Expand", .serverStreaming).makeUnaryCall([])
      #expect(await object.status == unary)
      #expect(await status { _ = try await object.response } == unary)
      let collected = await status {
        _ = try await call("Update", .bidirectionalStreaming).clientStreaming([[]])
      }
      #expect(
        collected?.code == .failedPrecondition && collected?.message?.hasPrefix("/echo.Echo/Update") == true
      )
    }
  }

  @Test(arguments: [false, true]) func theFormOfACallIsThatOfItsMethod(_ intercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      func call(_ type: GRPCCallType) -> MethodCall<BytesMarshaller, BytesMarshaller> {
        let descriptor = MethodDescriptor(service: "echo.Echo", method: "Get", type: type)
        let method = Method(descriptor, requests: BytesMarshaller(), responses: BytesMarshaller())
        let chain = CallInterceptors([ClientInterceptor<[UInt8], [UInt8]>()])
        return MethodCall(method, on: pair.channel, interceptors: intercepted ? chain : nil)
      }
      let refusals = [
        await status { _ = try await call(.unary).serverStreaming([]).collected() },
        await status { _ = try await call(.unary).clientStreaming([[]]) },
        await status { _ = try await call(.unary).bidirectionalStreaming([[]]).collected() },
        await status { for try await _ in call(.unary).makeServerStreamingCall([]).responseStream {} },
        await status { try await call(.unary).makeClientStreamingCall().requestStream.send([]) },
        await status { _ = try await call(.unary).makeClientStreamingCall().use { _ in } },
        await status { try await call(.unary).makeBidirectionalStreamingCall().requestStream.send([]) },
        await status { try await call(.unary).makeBidirectionalStreamingCall().use { _ in } },
        await call(.unary).makeBidirectionalStreamingCall().status,
      ]
      #expect(refusals == refusals.map { _ in .wrongForm(call(.unary).method.descriptor) })
      let unary = await status { _ = try await call(.clientStreaming).unary([]) }
      #expect(unary == .wrongForm(call(.clientStreaming).method.descriptor))
      // The command does that.
      let streamed = call(.unary).makeServerStreamingCall([], ofAnyType: true)
      #expect(try await streamed.responseStream.collected().count == 1)
    }
  }
}

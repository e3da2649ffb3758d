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
}

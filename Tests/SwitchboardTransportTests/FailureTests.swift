import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Every failure ends the call once, with the right status.
@Suite(.timeLimit(.minutes(5))) struct FailureTests {
  @Test(arguments: Wire.allCases) func aHandlersStatusReachesTheCaller(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      for message in ["50% of ü", " spaces ", "\t"] {
        let failure = await status { _ = try await pair.get(TestService.fail, Array(message.utf8)) }
        #expect(failure == GRPCStatus(code: .failedPrecondition, message: message))
      }
    }
  }

  @Test(arguments: Wire.allCases) func anUnknownMethodIsUnimplemented(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let failure = await status { _ = try await pair.get(TestService.missing) }
      #expect(failure?.code == .unimplemented)
      #expect(failure?.message == "there is no method \"\(TestService.missing.path)\" here")
    }
  }

  @Test(arguments: Wire.allCases) func aMessageAboveTheServersLimitIsRefused(_ wire: Wire) async throws {
    var options = ServerOptions()
    options.maxRequestSize = 1000
    try await TestPair.with(wire, server: options) { pair async throws in
      let failure = await status {
        _ = try await pair.get(TestService.get, [UInt8](repeating: 0, count: 1001))
      }
      #expect(failure?.code == .resourceExhausted)
      #expect(try await pair.get(TestService.get, [UInt8](repeating: 0, count: 1000)).count == 1000)
    }
  }

  @Test(arguments: Wire.allCases) func aMessageAboveTheCallersLimitIsRefused(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let options = CallOptions(responseSizeLimit: 10)
      let failure = await status {
        _ = try await pair.get(TestService.get, [UInt8](repeating: 0, count: 11), options: options)
      }
      #expect(failure?.code == .resourceExhausted)
    }
  }

  @Test(arguments: Wire.allCases) func theDeadlineEndsACallOnBothSides(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let loop = try #require(pair.channel.eventLoop as? Loop)
      let call = Task { try await pair.get(TestService.hang, options: CallOptions(timeout: .seconds(600))) }
      await pair.service.hanging.wait()
      await loop.advance(by: .seconds(601))
      #expect(await status { _ = try await call.value }?.code == .deadlineExceeded)
      await pair.service.cancelled.wait()
    }
  }

  @Test(arguments: Wire.allCases) func aDeadlineInThePastEndsTheCallAtOnce(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let failure = await status { _ = try await pair.get(options: CallOptions(timeout: .zero)) }
      #expect(failure?.code == .deadlineExceeded)
    }
  }

  @Test(arguments: Wire.allCases) func cancellingTheTaskCancelsTheHandler(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let call = Task { try await pair.get(TestService.hang) }
      await pair.service.hanging.wait()
      call.cancel()
      #expect(await status { _ = try await call.value }?.code == .cancelled)
      await pair.service.cancelled.wait()
    }
  }

  @Test(arguments: Wire.allCases) func aCallInACancelledTaskIsCancelled(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let call = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await pair.get()
      }
      #expect(await status { _ = try await call.value }?.code == .cancelled)
    }
  }

  @Test(arguments: Wire.allCases) func anAnswerBeforeTheEndOfTheRequestsStopsTheWriter(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      let endless = AsyncStream<[UInt8]> { [UInt8](repeating: 0, count: 1000) }
      let failure = await status {
        _ = try await pair.channel.call(TestService.ignore).clientStreaming(endless)
      }
      #expect(failure == GRPCStatus(code: .resourceExhausted, message: "enough"))
    }
  }

  @Test(arguments: Wire.allCases) func aSlowReaderStopsTheWriter(_ wire: Wire) async throws {
    var server = ServerOptions()
    var channel = ChannelOptions()
    server.streamBufferSize = 64 * 1024
    channel.streamBufferSize = 64 * 1024
    channel.streamLookahead = 128 * 1024
    try await TestPair.with(wire, server: server, channel: channel) { pair async throws in
      let stream = pair.expand(TestService.flood, [])
      var iterator = stream.makeAsyncIterator()
      #expect(try await iterator.next(isolation: nil)?.count == 10_000)
      // Other calls continue. By the time this many have completed, an unlimited writer would have written far more.
      for _ in 0..<400 { _ = try await pair.get() }
      let written = pair.service.flooded.value
      for _ in 0..<400 { _ = try await pair.get() }
      #expect(pair.service.flooded.value == written)
      #expect(written < 2_000_000)
    }
  }

  @Test(arguments: Wire.allCases) func releasingAStreamCancelsIt(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      for _ in 0..<300 {
        var iterator = pair.expand(TestService.flood, []).makeAsyncIterator()
        _ = try await iterator.next(isolation: nil)
      }
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func noServerMeansUnavailable() async throws {
    let address = try await withServer([]) { _, address in address }
    try await withChannel(to: "\(address)") { channel async throws in
      let failure = await status {
        _ = try await channel.call(TestService.get).unary([])
      }
      #expect(failure?.code == .unavailable)
    }
  }

  @Test(arguments: Wire.allCases) func aChannelThatWasShutDownRefusesCalls(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      _ = try await pair.get()
      await pair.channel.shutDown(grace: .zero)
      #expect(await status { _ = try await pair.get() }?.code == .unavailable)
    }
  }

  @Test func shuttingTheServerDownLetsCallsFinish() async throws {
    try await TestPair.with { pair async throws in
      _ = try await pair.get()
      let call = Task { try await pair.get(TestService.hang, [9]) }
      await pair.service.hanging.wait()
      let stopping = Task { await pair.server.shutDown(grace: .seconds(20)) }
      pair.service.cancelled.fire()
      #expect(try await call.value == [9])
      await stopping.value
    }
  }
}

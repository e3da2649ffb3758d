import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// A cancelled call throws one error, whatever its form; a call that was released by mistake says so.
@Suite(.timeLimit(.minutes(5))) struct CancelledCallMistakeTests {
  /// What a cancelled task throws, which `isRunning` follows.
  private func error(
    _ pair: TestPair,
    _ call: @escaping @Sendable () async throws -> Void
  ) async throws -> any Error {
    let task = Task { try await call() }
    while !Task.isCancelled, await !hasCalls(pair.channel) { await Task.yield() }
    task.cancel()
    switch await task.result {
    case .success: throw GRPCStatus(code: .internalError, message: "the call succeeded")
    case .failure(let error): return error
    }
  }

  /// Whether a call of the channel is on a connection, or is served within the process.
  private func hasCalls(_ channel: Channel) async -> Bool {
    if let open = await channel.openStreams { return open > 0 }
    guard let loop = channel.eventLoop as? Loop else { return true }
    return await loop.onLoop { loop.openHandles > 0 }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func aCancelledTaskGetsTheSameErrorInEveryForm(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      let caller = pair.caller
      let endless: @Sendable () -> AsyncStream<[UInt8]> = { AsyncStream { _ in } }
      let forms: [@Sendable () async throws -> Void] = [
        { _ = try await caller.get(TestService.stubborn) },
        { _ = try await caller.collect(TestService.collect, endless()) },
        { for try await _ in caller.channel.call(TestService.update).bidirectionalStreaming(endless()) {} },
        {
          let call = caller.channel.call(TestService.update).makeBidirectionalStreamingCall()
          for try await _ in call.responseStream {}
          withExtendedLifetime(call) {}
        },
      ]
      for form in forms {
        let error = try await error(pair, form)
        let status = try #require(error as? GRPCStatus, "\(error)")
        #expect(status == .cancelledByCaller)
      }
      pair.service.released.fire()
    }
  }

  /// Waiting for a part of a call object does not own the call, and the status says that it goes on.
  @Test func aCancelledWaitForACallObjectThrowsAStatusToo() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.stubborn).makeUnaryCall([1])
      let waits: [@Sendable () async throws -> Void] = [
        { _ = try await call.response }, { _ = try await call.initialMetadata },
        { _ = try await call.trailingMetadata },
      ]
      for wait in waits {
        let error = try await error(pair, wait)
        let status = try #require(error as? GRPCStatus, "\(error)")
        #expect(status == .waitCancelled)
      }
      pair.service.released.fire()
      #expect(try await call.response == [1])
    }
  }

  @Test func aCancelledSendThrowsAStatusToo() async throws {
    try await TestPair.with(.inProcess) { pair async throws in
      let call = pair.channel.call(TestService.deaf).makeClientStreamingCall()
      let error = try await error(pair) {
        while true { try await call.requestStream.send([UInt8](repeating: 0, count: 100_000)) }
      }
      #expect(error as? GRPCStatus == .waitCancelled, "\(error)")
      call.cancel()
      #expect(await call.status == .cancelledByCaller)
    }
  }

  @Test func aStreamWhoseCallObjectWasReleasedSaysSo() async throws {
    try await TestPair.with { pair async throws in
      let responses = pair.channel.call(TestService.flood).makeServerStreamingCall([]).responseStream
      let status = await status { for try await _ in responses {} }
      #expect(status == .callObjectReleased)
    }
  }

  @Test func aWriterWhoseCallObjectWasReleasedSaysSo() async throws {
    try await TestPair.with(.inProcess) { pair async throws in
      let requests = pair.channel.call(TestService.deaf).makeClientStreamingCall().requestStream
      let status = await status {
        while !Task.isCancelled { try await requests.send([UInt8](repeating: 0, count: 100_000)) }
      }
      #expect(status == .unfinishedCallReleased)
      #expect(status?.message?.contains("keep it") == true)
    }
  }
}

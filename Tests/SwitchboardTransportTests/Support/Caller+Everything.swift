import CallTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import Testing

extension Caller {
  /// Calls every method of a `TestService` in another language, or behind a proxy.
  func callEverything() async throws {
    for size in [0, 1, 1000, 100_000, 4_000_000] {
      let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      #expect(try await get(TestService.get, payload) == payload)
    }
    #expect(try await expand(TestService.expand, Array(0..<200)).collected() == (0..<200).map { [$0] })
    let parts = (0..<500).map { [UInt8](repeating: UInt8($0 % 256), count: $0) }
    #expect(try await collect(TestService.collect, parts) == parts.flatMap { $0 })
    #expect(try await update(parts).collected() == parts)
    for compression in [MessageCompression.gzip, .deflate] {
      let payload = [UInt8](repeating: 7, count: 100_000)
      let options = CallOptions(compression: compression)
      #expect(try await get(TestService.get, payload, options: options) == payload)
    }
    #expect(
      await status { _ = try await get(TestService.fail, Array("50% of ü".utf8)) }
        == GRPCStatus(code: .failedPrecondition, message: "50% of ü")
    )
    #expect(await status { _ = try await get(TestService.missing) }?.code == .unimplemented)
    #expect(
      await status {
        _ = try await get(TestService.hang, options: CallOptions(timeout: .milliseconds(200)))
      }?
      .code == .deadlineExceeded
    )
    let endless = AsyncStream<[UInt8]> { [UInt8](repeating: 0, count: 1000) }
    let ignored = await status { _ = try await collect(TestService.ignore, endless) }
    #expect(ignored == GRPCStatus(code: .resourceExhausted, message: "enough"))
    try await callInScopes()
  }

  /// The same methods, by calls that end with a closure.
  private func callInScopes() async throws {
    let joined = try await channel.call(TestService.collect).makeClientStreamingCall().use { call in
      for byte in 0..<100 as Range<UInt8> { try await call.requestStream.send([byte]) }
    }
    #expect(joined == Array(0..<100))
    let ignored = await status {
      _ = try await channel.call(TestService.ignore).makeClientStreamingCall().use { call in
        while true { try await call.requestStream.send([UInt8](repeating: 0, count: 1000)) }
      }
    }
    #expect(ignored == GRPCStatus(code: .resourceExhausted, message: "enough"))
    let found = try await channel.call(TestService.expand).makeServerStreamingCall([1, 2, 3]).use { call in
      try await call.responseStream.first { $0 == [2] }
    }
    #expect(found == [2])
    let (answer, call) = try await channel.call(TestService.update).makeBidirectionalStreamingCall().use {
      call in
      try await call.requestStream.send([7])
      return (try await call.responseStream.first { _ in true }, call)
    }
    #expect(answer == [7])
    #expect(await call.status.isOk)
  }
}

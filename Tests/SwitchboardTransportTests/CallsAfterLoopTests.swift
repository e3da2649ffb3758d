import CallTestSupport
import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Calls on a loop that has ended still end, once and with a status; and no loop ends before its calls.
@Suite(.timeLimit(.minutes(5))) struct CallsAfterLoopTests {
  /// A group whose loop has ended.
  private func ended(_ group: LoopGroup) async {
    group.shutDown()
    let loop = group.loops[0]
    while !Task.isCancelled, await !loop.onLoop({ loop.hasEnded }) { await Task.yield() }
  }

  @Test func callsOfAChannelEndWithAStatus() async throws {
    let group = try LoopGroup()
    let channel = try Channel(target: "unix:/nowhere", options: ChannelOptions(), group: group)
    await ended(group)
    let caller = Caller(channel: channel)
    #expect(await status { _ = try await caller.get() }?.code == .unavailable)
    #expect(
      await status { _ = try await caller.expand(TestService.expand, [1]).collected() }?.code == .unavailable
    )
    #expect(await status { _ = try await caller.collect(TestService.collect, [[1]]) }?.code == .unavailable)
    #expect(await status { _ = try await caller.update([[1]]).collected() }?.code == .unavailable)
    await channel.shutDown(grace: .seconds(1))
  }

  @Test func callsInTheProcessEndWithAStatus() async throws {
    let group = try LoopGroup()
    let channel = try Channel(inProcess: [TestService()], group: group)
    await ended(group)
    let caller = Caller(channel: channel)
    #expect(await status { _ = try await caller.get() }?.code == .unavailable)
    #expect(await status { _ = try await caller.update([[1]]).collected() }?.code == .unavailable)
    await channel.shutDown(grace: .seconds(1))
  }

  @Test func aCallCancelledAfterItsLoopEndsOnce() async throws {
    let group = try LoopGroup()
    let channel = try HTTP2ClientTransport(target: "unix:/nowhere", options: ChannelOptions(), group: group)
    let receiver = EndCounter()
    let request = CallRequest(
      method: TestService.get,
      options: nil,
      body: .message(BytesMarshaller().encode([]))
    )
    let call = channel.makeCall(request, receiver: receiver)
    call.start()
    let loop = channel.loop
    await loop.until { receiver.count == 1 }
    await ended(group)
    call.cancel(GRPCStatus(code: .cancelled))
    await loop.onLoop {}
    #expect(receiver.count == 1)
    // As its owner does: until then, the channel waits to connect again.
    channel.retire()
    await loop.onLoop {}
  }

  @Test func aLoopOutlivesItsInProcessCalls() async throws {
    let group = try LoopGroup()
    let service = TestService()
    let channel = try Channel(inProcess: [service], group: group)
    let call = Task { try await Caller(channel: channel).get(TestService.hang) }
    await service.hanging.wait()
    let loop = group.loops[0]
    group.shutDown()
    await loop.onLoop {}
    await loop.onLoop {}
    #expect(await !loop.onLoop { loop.hasEnded })
    service.cancelled.fire()
    #expect(try await call.value == [1, 2, 3])
    await ended(group)
  }
}

private final class EndCounter: ResponseReceiver {
  private let ends = Locked(0)

  var wantsMetadata: Bool { false }
  var wantsSent: Bool { false }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}
  var count: Int { ends.withLock { $0 } }

  func receive(headers: HPACKHeaders) {}
  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {}
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) { ends.withLock { $0 += 1 } }
}

import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct InboundRequestTests {
  /// What a tracer was told of messages.
  private final class Sizes: CallTracer {
    let received = Locked<[Int]>([])

    var wantsMessages: Bool { true }
    func messageSent(_ byteCount: Int, compressed: Int?) {}
    func messageReceived(_ byteCount: Int) { received.withLock { $0.append(byteCount) } }
    func ended(_ end: ObservedEnd, _ stamp: CallStamp) {}
  }

  @Test func aRequestMayFail() {
    var request = InboundRequest(limit: 100)
    #expect(request.isRead && request.failure == nil && !request.isTruncated)
    request.fail(.truncatedMessage)
    #expect(request.isRead && request.failure == .truncatedMessage && !request.isTruncated)
  }

  @Test func bytesForAPageAreKeptUpToItsLimit() {
    var request = InboundRequest(limit: 100)
    func keep(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { request.keep($0, upTo: 4) } }
    #expect(keep([1, 2]) && keep([3, 4]))
    #expect(request.takePage() == [1, 2, 3, 4])
    #expect(keep([5, 6, 7]) && !keep([8, 9]))
    #expect(request.takePage() == [])
  }

  @Test func theSingleMessageIsTakenOnce() {
    var request = InboundRequest(limit: 100)
    request.messages.single = .kept(MessageBuffer([1, 2, 3]))
    #expect(request.messages.takeSingle().byteCount == 3)
    #expect(request.messages.takeSingle().byteCount == 0)
  }

  @Test func onlyAMessageInTheReadBufferIsDropped() {
    var request = InboundRequest(limit: 100)
    request.messages.single = .kept(MessageBuffer([1]))
    request.messages.dropLent()
    #expect(request.messages.single.byteCount == 1)
    [1, 2].withUnsafeBytes { bytes in
      request.messages.single = .lent(bytes)
      request.messages.dropLent()
    }
    #expect(request.messages.single.byteCount == 0)
  }

  /// The sizes of streamed messages are not stored: each counts as the mean.
  @Test func earlierMessagesAreReported() {
    var request = InboundRequest(limit: 100)
    let tracer = Sizes()
    request.reportEarlier(to: tracer, areStreamed: false)
    request.messages.single = .kept(MessageBuffer([1, 2, 3]))
    request.messages.totals = MessageTotals(messages: 1, bytes: 8)
    request.reportEarlier(to: tracer, areStreamed: false)
    request.messages.totals = MessageTotals(messages: 2, bytes: 20)
    request.reportEarlier(to: tracer, areStreamed: true)
    #expect(tracer.received.withLock { $0 } == [3, 5, 5])
  }

  @Test func abuseIsWhatTheMessagesOrTheStatusSay() {
    let request = InboundRequest(limit: 100)
    #expect(request.messages.abuse(GRPCStatus(code: .resourceExhausted)) == .messageTooLarge)
    #expect(request.messages.abuse(.truncatedMessage) == .brokenFraming)
  }
}

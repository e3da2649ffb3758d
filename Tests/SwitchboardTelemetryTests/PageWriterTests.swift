import CallTestSupport
import Dispatch
import Glibc
import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import Synchronization
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTelemetry
@testable import SwitchboardTransport

/// How many pages are written for scrapers, and when.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct PageWriterTests {
  /// A gauge that every page reads. A test can hold the first one up.
  private final class Reading: Sendable {
    let count = Atomic(0)
    private let begins = AsyncStream<Void>.makeStream()
    private let held = DispatchSemaphore(value: 0)

    init(_ telemetry: Telemetry, isHeld: Bool = true, _ read: @escaping @Sendable () -> Void = {}) {
      telemetry.metrics.observe("read") { [self] in
        let isFirst = count.add(1, ordering: .relaxed).oldValue == 0
        begins.continuation.yield()
        if isFirst, isHeld { held.wait() }
        read()
        return 1
      }
    }

    func begin() async { for await _ in begins.stream { return } }
    func release() { held.signal() }
  }

  private func text(_ page: HTTPPage.Response) -> String {
    page.body.withBytes { bytes in bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
  }

  @Test func requestsThatWaitShareThePageThatIsBegunNext() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter(), time: ManualTime())
    let reading = Reading(telemetry)
    let first = Task.immediate { try await telemetry.pages.next(.plain) }
    await reading.begin()
    telemetry.metrics.counter("late").add(1)
    let others = (0..<100).map { _ in Task.immediate { try await telemetry.pages.next(.plain) } }
    let open = Task.immediate { try await telemetry.pages.next(.openMetrics) }
    reading.release()
    #expect(!text(try await first.value).contains("late_total"))
    var bodies: Set<UnsafeRawPointer?> = []
    for other in others {
      let page = try await other.value
      #expect(text(page).contains("late_total 1"))
      bodies.insert(page.body.unsafeFramedBytes.baseAddress)
    }
    #expect(bodies.count == 1)
    #expect(text(try await open.value).hasSuffix("# EOF\n"))
    #expect(reading.count.load(ordering: .relaxed) == 3)
    await telemetry.shutDown()
  }

  @Test func aRequestThatIsGoneWaitsNoLonger() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let reading = Reading(telemetry)
    let gone = Task.immediate { try await telemetry.pages.next(.plain) }
    await reading.begin()
    gone.cancel()
    await #expect(throws: CancellationError.self) { try await gone.value }
    reading.release()
    await telemetry.shutDown()
  }

  @Test func exportsDoNotWaitForAPage() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let reading = Reading(telemetry)
    let page = Task.immediate { try await telemetry.pages.next(.plain) }
    await reading.begin()
    await telemetry.tracer.withSpan("step") { _ in }
    await telemetry.flush()
    #expect(exporter.spans.count == 1)
    reading.release()
    _ = try await page.value
    await telemetry.shutDown()
  }

  @Test func pagesTakeATenthOfTheTime() async throws {
    let time = ManualTime()
    let telemetry = try Telemetry.capturing(CapturingExporter(), time: time)
    let reading = Reading(telemetry, isHeld: false) { time.advance(by: .seconds(1)) }
    _ = try await telemetry.pages.next(.plain)
    let second = Task.immediate { try await telemetry.pages.next(.plain) }
    while let wait = await time.nextWait(), wait != .seconds(9) {}
    #expect(reading.count.load(ordering: .relaxed) == 1)
    time.advance(by: .seconds(9))
    _ = try await second.value
    #expect(reading.count.load(ordering: .relaxed) == 2)
    await telemetry.shutDown()
  }

  private static let get = FramePeer.block([
    (":method", "GET"), (":scheme", "http"), (":path", "/metrics"), (":authority", "localhost"),
  ])

  /// Clients that ask for many pages, and are gone at once.
  @Test func aFloodOfRequestsCostsOnePage() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let reading = Reading(telemetry)
    let address = try telemetry.serveMetrics(port: 0)
    for _ in 0..<10 {
      let peer = try FramePeer(address)
      for index in 0..<100 { peer.send(FramePeer.Kind.headers, 5, UInt32(2 * index + 1), Self.get) }
      #expect(peer.settle())
    }
    await reading.begin()
    reading.release()
    #expect(try MetricsPageTests.get("/metrics", at: address).contains("\nread 1\n"))
    #expect(reading.count.load(ordering: .relaxed) <= 3)
    await telemetry.shutDown()
  }

  private static let silences: [(String, [UInt8])] = {
    let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + FramePeer.frame(4, 0, 0, [])
    let window = FramePeer.frame(4, 0, 0, [0, 4] + FramePeer.number(0))
    let request = "GET /metrics HTTP/1.1\r\nhost: test\r\n"
    return [
      ("nothing", []), ("part of a greeting", greeting.dropLast(12)), ("a greeting", greeting),
      ("a request without its end", greeting + FramePeer.frame(1, 4, 1, get)),
      ("a request whose page is not read", greeting + window + FramePeer.frame(1, 5, 1, get)),
      ("part of a request", Array(request.utf8)), ("a request", Array("\(request)\r\n".utf8)),
      ("a request without its body", Array("\(request)content-length: 60000\r\n\r\n".utf8)),
    ]
  }()

  private static func hasUnread(_ descriptor: Int32?) -> Bool {
    var count: Int32 = 0
    return descriptor.map { ioctl($0, UInt(FIONREAD), &count) } == 0 && count > 0
  }

  /// Clients that take all connections and do nothing more lose them soon.
  @Test(arguments: silences) func silentClientsMakeRoom(_ kind: String, _ bytes: [UInt8]) async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let server = try telemetry.metricsServer("/metrics")
    let address = try server.bind(host: "127.0.0.1", port: 0)
    let loop = server.core.group.loops[0]
    var peers: [RawPeer] = []
    for _ in 0..<64 {
      let peer = try RawPeer(address)
      peer.send(bytes)
      peers.append(peer)
    }
    // From when the server has read what they sent, in real time.
    await loop.until {
      server.core.connectionCount == 64
        && !server.core.connections.contains { Self.hasUnread($0.socket.descriptor) }
    }
    var seconds = 0
    while server.core.connectionCount > 0, seconds < 100 {
      // Pages are written in real time.
      await loop.until { server.core.connections.allSatisfy { $0.runningHandlers == 0 } }
      await loop.advance(by: .seconds(1))
      seconds += 1
    }
    #expect(seconds < 35)
    #expect(try MetricsPageTests.get("/metrics", at: address).hasPrefix("HTTP/1.1 200 "))
    await server.shutDown(grace: .zero)
    await telemetry.shutDown()
  }
}

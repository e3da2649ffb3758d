import Dispatch
import Foundation
import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardXDS

/// What a client says to logs and metrics does not hold up those who watch.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct AnnouncementsTests {
  /// Holds up whoever says something first, until a watch has begun meanwhile.
  private final class Gate: LogHandler, MetricRecorder, Sendable {
    let entered = DispatchSemaphore(value: 0)
    let opened = DispatchSemaphore(value: 0)
    private let isFirst = Locked(true)
    private let isLate = Locked(false)

    var wasHeldUp: Bool { isLate.withLock { $0 } }

    func pass() {
      let isFirst = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard isFirst else { return }
      entered.signal()
      if opened.wait(timeout: .now() + .seconds(20)) == .timedOut { isLate.withLock { $0 = true } }
    }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if message.utf8.contains(UInt8(ascii: ":")) { pass() }
    }

    /// One that no thread records which watches something.
    func series(of instrument: Instrument, _ labels: [String: String]) -> (any MetricSeries)? {
      instrument.name == "grpc.xds_client.connected" ? Series(self) : nil
    }
  }

  private final class Series: MetricSeries {
    let gate: Gate

    init(_ gate: Gate) { self.gate = gate }
    func record(_ values: [Double]) { gate.pass() }
  }

  /// None of the control planes can be asked, which the log and the metrics say.
  private func client(_ environment: XDSEnvironment) -> XDSClient {
    let servers = [1, 2].map { XDSBootstrap.Server("127.0.0.1:\($0)", security: .plaintext) }
    return XDSClient(XDSBootstrap(servers: servers, node: XDSBootstrap.Node(id: "n")), environment)
  }

  @Test(arguments: [true, false])
  func aHandlerThatBlocksHoldsUpNobodyElse(_ isMetric: Bool) throws {
    let gate = Gate()
    var environment = XDSEnvironment()
    environment.options.logger = isMetric ? .quiet : Logger(gate)
    environment.metrics = isMetric ? MetricScope(gate, [:]) : nil
    let client = client(environment)
    let first = try client.watch(ResourceKey(.listener, "a")) { _ in }
    gate.entered.wait()
    let second = try client.watch(ResourceKey(.listener, "b")) { _ in }
    gate.opened.signal()
    #expect(!gate.wasHeldUp)
    withExtendedLifetime((first, second)) {}
  }

  /// Has more to be said whenever something is said, as a control plane that sends something else all the time.
  private final class Flood: MetricRecorder, MetricSeries, Sendable {
    private struct State {
      var client: XDSClient?
      var watches: [ResourceWatch] = []
      var byThread: [UInt: Int] = [:]
    }

    private let state = Locked(State())

    private var thread: UInt { UInt(pthread_self()) }

    /// How often something was said, in this thread alone and in all.
    var countHere: Int { state.withLock { $0.byThread[thread, default: 0] } }
    var count: Int { state.withLock { $0.byThread.values.reduce(0, +) } }

    func begin(_ client: XDSClient) { state.withLock { $0.client = client } }

    func end() {
      let (_, _) = state.withLock { state in
        defer { (state.client, state.watches) = (nil, []) }
        return (state.client, state.watches)
      }
    }

    func series(of instrument: Instrument, _ labels: [String: String]) -> (any MetricSeries)? {
      instrument.name == "grpc.xds_client.resources" ? self : nil
    }

    func record(_ values: [Double]) {
      let (client, number) = state.withLock { state in
        state.byThread[thread, default: 0] += 1
        return (state.client, state.watches.count)
      }
      guard number < 200, let watch = try? client?.watch(ResourceKey(.listener, "\(number)"), { _ in }) else {
        return
      }
      state.withLock { $0.watches.append(watch) }
    }
  }

  /// It may be the loop of a channel.
  @Test func nobodyHasToSayAllThatComes() throws {
    let flood = Flood()
    var environment = XDSEnvironment()
    environment.options.logger = .quiet
    environment.metrics = MetricScope(flood, [:])
    let client = client(environment)
    flood.begin(client)
    let watch = try client.watch(ResourceKey(.listener, "a")) { _ in }
    #expect(flood.countHere <= 16)
    // It is said nevertheless.
    while flood.count < 200 { usleep(1000) }
    flood.end()
    withExtendedLifetime(watch) {}
  }

  @Test func linesKeepTheirOrderAndHaveABound() throws {
    var announcements = Announcements()
    func add(_ texts: [String]) {
      for text in texts { announcements.add(.init(logger: .quiet, level: .info, text: text)) }
    }
    func next() -> [String]? { announcements.next { _ in }?.lines.map(\.text) }
    #expect(next() == nil)
    add(["a", "b"])
    #expect(next() == ["a", "b"])
    add(["c"])
    // The thread that says the first ones says it.
    #expect(next() == nil)
    announcements.done()
    #expect(next() == ["c"])
    add((0..<300).map { "\($0)" })
    announcements.done()
    let lines = try #require(next())
    #expect(lines.count == Announcements.lineLimit + 1)
    #expect(lines.last == "and 44 more lines, for which the handler of the log took too long")
  }
}

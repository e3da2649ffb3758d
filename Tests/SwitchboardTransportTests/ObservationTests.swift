import CallTestSupport
import CertificateSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ObservationTests {
  private final class Recorder: CallObserver, LogHandler {
    private let entries = Locked<[String]>([])
    let closed = Signal()
    let totals = Locked<[(sent: MessageTotals, received: MessageTotals)]>([])
    let failed = Signal()

    var all: [String] { entries.withLock { $0 } }

    private func note(_ entry: String) { entries.withLock { $0.append(entry) } }

    func callStarted(_ call: ObservedCall) -> (any Sendable)? {
      note("started \(call.method.path)")
      return 42
    }

    func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {
      note("ended \(end.status.code) \(token as? Int ?? 0)")
      totals.withLock { $0.append((end.sent, end.received)) }
    }

    func connectionOpened(_ connection: ObservedConnection) { note("opened \(connection.isSecure)") }

    func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
      note("closed")
      closed.fire()
    }

    func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
      note("failed \(reason.code)")
      failed.fire()
    }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      note("\(level): \(message)")
    }
  }

  @Test func bothSidesReportCallsAndConnections() async throws {
    let atServer = Recorder()
    let atClient = Recorder()
    var server = ServerOptions()
    server.observer = atServer
    var channel = ChannelOptions()
    channel.observer = atClient
    try await TestPair.with(.tls, server: server, channel: channel) { pair async throws in
      _ = try await pair.get()
      _ = await status { _ = try await pair.get(TestService.fail) }
    }
    await atServer.closed.wait()
    await atClient.closed.wait()
    let calls = [
      "started /test.Test/Get", "ended ok (0) 42", "started /test.Test/Fail",
      "ended failed precondition (9) 42",
    ]
    #expect(atServer.all == ["opened true"] + calls + ["closed"])
    #expect(atClient.all.filter { $0 != "opened true" } == calls + ["closed"])
  }

  @Test(arguments: Wire.allCases) func bothSidesCountMessagesAndBytes(_ wire: Wire) async throws {
    let atServer = Recorder()
    let atClient = Recorder()
    var server = ServerOptions()
    server.observer = atServer
    var channel = ChannelOptions()
    channel.observer = atClient
    try await TestPair.with(wire, server: server, channel: channel) { pair async throws in
      _ = try await pair.get(TestService.get, [1, 2, 3])
      _ = try await pair.collect(TestService.collect, [[1], [2, 3]])
      _ = try await pair.expand(TestService.expand, [1, 2]).collected()
    }
    let requests = [(1, 8), (2, 13), (1, 7)].map { MessageTotals(messages: $0.0, bytes: $0.1) }
    let responses = [(1, 8), (1, 8), (2, 12)].map { MessageTotals(messages: $0.0, bytes: $0.1) }
    let client = atClient.totals.withLock { $0 }
    #expect(client.map(\.sent) == requests)
    #expect(client.map(\.received) == responses)
    let serverTotals = atServer.totals.withLock { $0 }
    #expect(serverTotals.map(\.sent) == responses)
    #expect(serverTotals.map(\.received) == requests)
  }

  @Test func aMissingServerIsReported() async throws {
    let recorder = Recorder()
    var options = ChannelOptions()
    options.observer = recorder
    options.logger = Logger(recorder, minimumLevel: .warning)
    let address = try await withServer([]) { _, address in address }
    try await withChannel(to: "\(address)", options: options) { channel async throws in
      #expect(await status { _ = try await Caller(channel: channel).get() }?.code == .unavailable)
      await recorder.failed.wait()
    }
    #expect(recorder.all.contains("failed unavailable (14)"))
    #expect(recorder.all.contains("warning: cannot connect"))
  }

  @Test func aFailedHandshakeIsLogged() async throws {
    let recorder = Recorder()
    var server = ServerOptions()
    server.logger = Logger(recorder, minimumLevel: .warning)
    server.observer = recorder
    var channel = ChannelOptions()
    channel.security = .tls(ClientTLS(trustRoots: TestCertificates.stranger))
    try await TestPair.with(.tls, server: server, channel: channel) { pair async throws in
      _ = await status { _ = try await pair.get() }
    }
    // The client may have tried more than once.
    #expect(Set(recorder.all) == ["warning: connection closed", "failed unavailable (14)"])
  }
}

import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

@Suite(.timeLimit(.minutes(1))) struct ObservationTests {
  private final class Recorder: CallObserver, LogHandler {
    private let entries = Locked<[String]>([])
    let closed = Signal()

    var all: [String] { entries.withLock { $0 } }

    private func note(_ entry: String) { entries.withLock { $0.append(entry) } }

    func callStarted(_ call: ObservedCall) -> (any Sendable)? {
      note("started \(call.method.path)")
      return 42
    }

    func callEnded(_ call: ObservedCall, _ status: GRPCStatus, _ token: (any Sendable)?) {
      note("ended \(status.code) \(token as? Int ?? 0)")
    }

    func connectionOpened(_ connection: ObservedConnection) { note("opened \(connection.isSecure)") }

    func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
      note("closed")
      closed.fire()
    }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      note("\(level): \(message)")
    }
  }

  @Test func bothSidesTellOfCallsAndConnections() async throws {
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

  @Test func aFailedHandshakeIsLogged() async throws {
    let recorder = Recorder()
    var server = ServerOptions()
    server.logger = Logger(recorder, minimumLevel: .warning)
    var channel = ChannelOptions()
    channel.tls = ClientTLS(trustRoots: TestCertificates.stranger)
    try await TestPair.with(.tls, server: server, channel: channel) { pair async throws in
      _ = await status { _ = try await pair.get() }
    }
    // The client may have tried more than once.
    #expect(Set(recorder.all) == ["warning: connection closed"])
  }
}

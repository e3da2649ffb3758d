import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

/// Options with which a server could not serve.
@Suite struct ServerOptionTests {
  private static let invalid: [(name: String, change: @Sendable (inout ServerOptions) -> Void)] = [
    ("maxRequestSize is -1", { $0.maxRequestSize = -1 }),
    ("maxConcurrentStreams is 0", { $0.maxConcurrentStreams = 0 }),
    ("maxMetadataSize is 0", { $0.maxMetadataSize = 0 }),
    ("streamBufferSize is 0", { $0.streamBufferSize = 0 }),
    ("streamLookahead is -5", { $0.streamLookahead = -5 }),
    ("connectionWindow is 0", { $0.connectionWindow = 0 }),
    ("maxWindow is -1", { $0.maxWindow = -1 }),
    ("connectionBufferSize is 0", { $0.connectionBufferSize = 0 }),
    ("maxConnections is 0", { $0.maxConnections = 0 }),
    ("controlFrameAllowance is 0", { $0.controlFrameAllowance = 0 }),
    ("keepaliveInterval is 0.0 seconds", { $0.keepaliveInterval = .zero }),
    ("keepaliveTimeout is -1.0 seconds", { $0.keepaliveTimeout = .seconds(-1) }),
    ("handshakeTimeout is 0.0 seconds", { $0.handshakeTimeout = .zero }),
    ("maxConnectionIdle is 0.0 seconds", { $0.maxConnectionIdle = .zero }),
    ("maxConnectionAge is -2.0 seconds", { $0.maxConnectionAge = .seconds(-2) }),
    ("requestTimeout is 0.0 seconds", { $0.requestTimeout = .zero }),
    ("connectionAgeGrace is -1.0 seconds", { $0.connectionAgeGrace = .seconds(-1) }),
    ("minimumPingInterval is -1.0 seconds", { $0.minimumPingInterval = .seconds(-1) }),
  ]

  @Test(arguments: 0..<invalid.count)
  func anOptionThatWouldFailAllCallsIsRejected(_ index: Int) throws {
    var options = ServerOptions()
    Self.invalid[index].change(&options)
    let error = #expect(throws: GRPCStatus.self) { _ = try Server(providers: [], options: options) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message?.hasPrefix(Self.invalid[index].name + ": it must") == true)
    let inProcess = #expect(throws: GRPCStatus.self) { _ = try Channel(inProcess: [], options: options) }
    #expect(inProcess == error)
  }
}

import CertificateSupport
import SwitchboardCall
import TLSSupport

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Complete TLS connections of a server, of a server with gRPC-Web, and of a client, whose peer follows a script.
final class SecureUnderFuzz: Sendable {
  static let shared = Result { try SecureUnderFuzz() }

  private let group: LoopGroup
  private let servers: [Server]
  private let ends: EndCounter
  private let config: ServiceConfig
  /// One input at a time, because connections are counted globally.
  private let turn = Locked(())

  private static let preface =
    Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
  private static let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

  private init() throws {
    let group = try LoopGroup()
    let ends = EndCounter()
    servers = try [nil, WebOptions(origins: .any)].map { web in
      var options = ServerOptions()
      options.logger = .quiet
      options.web = web
      options.tls = ServerTLS(credentials: TestCertificates.server)
      options.observer = ends
      return try Server(providers: [FuzzedService()], options: options, group: group)
    }
    self.group = group
    self.ends = ends
    config = try CallUnderFuzz.config()
  }

  /// More than any connection allows.
  private static let mostKeys = 1200

  fileprivate func run(_ input: [UInt8]) throws { try turn.withLock { _ in try runAlone(input) } }

  private func runAlone(_ input: [UInt8]) throws {
    guard let first = input.first else { return }
    let setting = RecordScript.Setting(first)
    ends.forget()
    if setting.peerIsServer {
      try runClient(setting, input.dropFirst())
    } else {
      try runServer(servers[Int(setting.choice & 1)], setting, input.dropFirst())
    }
    try ends.check()
  }

  private func runServer(_ server: Server, _ setting: RecordScript.Setting, _ steps: ArraySlice<UInt8>) throws
  {
    let (core, loop) = (server.core, group.loops[0])
    let socket = try FedSocket(on: loop) { core.accept($0, .unix(path: ""), peer: nil, on: loop) }
    let peer = try TLSPeer(.client, version: setting.version, protocols: setting.protocols)
    try play(setting, steps, peer, SocketEnd(socket) { core.connections }, saying: Self.preface)
  }

  private func runClient(_ setting: RecordScript.Setting, _ steps: ArraySlice<UInt8>) throws {
    var options = ClientUnderFuzz.options
    options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    options.observer = ends
    let transport = try HTTP2ClientTransport(target: ClientUnderFuzz.target, options: options, group: group)
    let channel = CallUnderFuzz.channel(over: transport, config)
    let socket = try FedSocket(on: transport.loop) { transport.take($0) }
    let calls = CallUnderFuzz.startAll(on: channel)
    let peer = try TLSPeer(.server, version: setting.version, protocols: setting.protocols)
    try play(setting, steps, peer, SocketEnd(socket) { transport.connections }, saying: Self.settings)
    for call in calls { try call.check() }
  }

  private func play(
    _ setting: RecordScript.Setting,
    _ steps: ArraySlice<UInt8>,
    _ peer: TLSPeer,
    _ end: SocketEnd,
    saying greeting: [UInt8]
  ) throws {
    var (script, end) = (RecordScript(peer, steps, mostKeys: Self.mostKeys), end)
    defer { end.socket.close() }
    if setting.shakesHandsFirst { try script.open(saying: greeting, to: &end) }
    try script.run(against: &end)
    try end.socket.end()
    // The socket's end is seen shortly before it is reported.
    _ = end.socket.onLoop { 0 }
  }
}

extension Result<SecureUnderFuzz, any Error> {
  func run(_ input: [UInt8]) throws { try get().run(input) }
}

/// A connection on its loop, accessed through the other end of its socket.
private struct SocketEnd: RecordScript.End {
  let socket: FedSocket
  /// Call on the loop.
  private let connections: @Sendable () -> [ConnectionParts]

  /// The maximum of pending output of TLS, plus what one read may add.
  private static let pendingLimit = 2 * 64 * 1024

  init(_ socket: FedSocket, _ connections: @escaping @Sendable () -> [ConnectionParts]) {
    self.socket = socket
    self.connections = connections
  }

  mutating func take(_ bytes: [UInt8]) throws -> [UInt8] {
    let answer = socket.exchange(bytes)
    let connections = connections
    let pending = socket.onLoop { connections().compactMap { $0.tls?.pendingByteCount }.max() ?? 0 }
    try BrokenPromise.unless(pending <= Self.pendingLimit, "\(pending) bytes of TLS are pending")
    return answer
  }

  /// It sends nothing unprompted.
  mutating func say(_ count: Int) throws -> [UInt8] { try take([]) }
}

/// Checks that each connection is reported once when it opens and once when it ends.
private final class EndCounter: CallObserver {
  private struct State {
    var opened = 0
    var closed = 0
    var failed = 0
  }

  private let state = Locked(State())

  func connectionOpened(_ connection: ObservedConnection) { state.withLock { $0.opened += 1 } }

  func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    state.withLock { $0.closed += 1 }
  }

  func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    // A client whose only connection is gone tries to connect to its target, which does not exist.
    if connection.isServer { state.withLock { $0.failed += 1 } }
  }

  func forget() { state.withLock { $0 = State() } }

  func check() throws {
    let state = state.withLock { $0 }
    try BrokenPromise.unless(
      state.opened <= 1 && state.closed == state.opened && state.closed + state.failed <= 1,
      "a connection opened \(state.opened) times, and ended \(state.closed) and \(state.failed) times"
    )
  }
}

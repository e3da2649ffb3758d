import Glibc
import HTTP2TestSupport
import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Channels whose proxy says what a test makes it say.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ScriptedProxyTests {
  private static let alice = ProxyCredentials(user: "alice", password: "sesame")
  private static let target = "switchboard.test:443"

  private static var options: ChannelOptions {
    var options = ChannelOptions()
    options.security = .plaintext
    return options
  }

  private func proxy(_ listener: FrameListener, _ credentials: ProxyCredentials? = nil) -> ProxyOption {
    .http(host: "127.0.0.1", port: listener.port, credentials: credentials)
  }

  private func socks(_ listener: FrameListener, _ credentials: ProxyCredentials? = nil) -> ProxyOption {
    .socks5(host: "127.0.0.1", port: listener.port, credentials: credentials)
  }

  /// Starts a call through a proxy, and returns its result after `script`.
  private func call(
    _ proxy: ProxyOption,
    to target: String = target,
    _ script: (HTTP2ClientTransport) async throws -> Void
  ) async throws -> Result<[UInt8], GRPCStatus> {
    var options = Self.options
    options.proxy = proxy
    return try await call(target, options, ProxyEnvironment(), script)
  }

  private func call(
    _ target: String,
    _ options: ChannelOptions,
    _ environment: ProxyEnvironment,
    _ script: (HTTP2ClientTransport) async throws -> Void
  ) async throws -> Result<[UInt8], GRPCStatus> {
    let group = try LoopGroup()
    let transport = try HTTP2ClientTransport(
      target: target,
      options: options,
      group: group,
      loop: group.nextLoop(),
      proxies: environment
    )
    let channel = Channel(transport)
    // On the loop, because other tests may block the threads of the global pool.
    let call = Task(executorPreference: channel.eventLoop) { () -> Result<[UInt8], GRPCStatus> in
      do {
        return .success(try await Caller(channel: channel).get())
      } catch {
        return .failure(GRPCStatus(describing: error))
      }
    }
    try await script(transport)
    let result = await call.value
    await channel.shutDown(grace: .zero)
    // Whatever happened, nothing is left open.
    await transport.loop.until { transport.loop.openHandles == 0 }
    return result
  }

  private func unavailable(_ message: String, of listener: FrameListener) -> Result<[UInt8], GRPCStatus> {
    .failure(GRPCStatus(code: .unavailable, message: "the proxy 127.0.0.1:\(listener.port) \(message)"))
  }

  /// What the proxy is asked, up to the empty line.
  private func question(_ peer: RawPeer) -> String {
    var bytes: [UInt8] = []
    while !bytes.ends(with: "\r\n\r\n".utf8), case let byte = peer.read(1), !byte.isEmpty { bytes += byte }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static let asked = "CONNECT switchboard.test:443 HTTP/1.1\r\nHost: switchboard.test:443\r\n"
  private static let authorization = "Proxy-Authorization: Basic YWxpY2U6c2VzYW1l\r\n"

  /// Answers a call as a server.
  private func serve(_ peer: FramePeer) throws {
    answer(try #require(peer.next(FramePeer.Kind.headers)), peer)
  }

  private func answer(_ head: FramePeer.Frame, _ peer: FramePeer) {
    peer.headers(head.stream, [(":status", "200"), ("content-type", "application/grpc")])
    peer.data(head.stream, [0, 0, 0, 0, 1, 7])
    peer.headers(head.stream, [("grpc-status", "0")], ends: true)
  }

  // MARK: HTTP

  @Test(arguments: [nil, alice]) func aCallGoesThroughTheTunnel(_ credentials: ProxyCredentials?) async throws
  {
    let listener = try FrameListener()
    let result = try await call(proxy(listener, credentials)) { _ in
      let raw = listener.acceptRaw()
      #expect(question(raw) == Self.asked + (credentials == nil ? "" : Self.authorization) + "\r\n")
      raw.send(Array("HTTP/1.1 200 OK\r\nVia: scripted\r\n\r\n".utf8))
      try serve(FramePeer(serving: raw))
    }
    #expect(result == .success([7]))
  }

  /// A server may speak first, and the proxy may send that along with its answer.
  @Test func bytesAfterTheProxysAnswerBelongToTheServer() async throws {
    let listener = try FrameListener()
    let result = try await call(proxy(listener)) { _ in
      let raw = listener.acceptRaw()
      _ = question(raw)
      // They end within a frame: a byte that is lost would break the session.
      let settings = FramePeer.frame(FramePeer.Kind.settings, 0, 0, [0, 3] + FramePeer.number(1))
      let ping = FramePeer.frame(FramePeer.Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      raw.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + settings + ping.prefix(4))
      raw.send(Array(ping.dropFirst(4)))
      let peer = FramePeer(serving: raw)
      // The call needs the settings only, so it may come before the answer to the ping.
      let frames = [
        try #require(peer.next(FramePeer.Kind.headers, FramePeer.Kind.ping)),
        try #require(peer.next(FramePeer.Kind.headers, FramePeer.Kind.ping)),
      ]
      #expect(frames.contains { $0.type == FramePeer.Kind.ping && $0.payload == [1, 2, 3, 4, 5, 6, 7, 8] })
      answer(try #require(frames.first { $0.type == FramePeer.Kind.headers }), peer)
    }
    #expect(result == .success([7]))
  }

  @Test func anHTTP1ServerIsRecognizedThroughTheTunnel() async throws {
    let listener = try FrameListener()
    let result = try await call(proxy(listener)) { _ in
      let raw = listener.acceptRaw()
      _ = question(raw)
      raw.send(Array("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 400 Bad Request\r\n\r\n".utf8))
      #expect(raw.readToEnd())
    }
    #expect(result == .failure(.peerSpeaksHTTP1))
  }

  @Test(arguments: [
    ("HTTP/1.1 407 Proxy Authentication Required\r\n", "refused: 407 Proxy Authentication Required"),
    ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 99999\r\n\r\n<html>", "refused: 502 Bad Gateway"),
    ("SSH-2.0-OpenSSH_9.2\r\n", "does not speak HTTP"), ("\u{5}\0", "does not speak HTTP"),
    (
      "HTTP/1.1 200 OK\r\n\(String(repeating: "a: b\r\n", count: 4_000))",
      "answered with more than 16384 bytes"
    ),
  ])
  func aRefusedTunnelFailsTheCall(_ sample: (answer: String, message: String)) async throws {
    let listener = try FrameListener()
    let result = try await call(proxy(listener, Self.alice)) { _ in
      let raw = listener.acceptRaw()
      _ = question(raw)
      raw.send(Array(sample.answer.utf8))
      #expect(raw.readToEnd())
    }
    #expect(result == unavailable(sample.message, of: listener))
  }

  @Test(arguments: ["", "HTTP/1.1 200 OK\r\nVia: "])
  func aProxyThatClosesEarlyFailsTheCall(_ answer: String) async throws {
    let listener = try FrameListener()
    let result = try await call(proxy(listener)) { _ in
      let raw = listener.acceptRaw()
      _ = question(raw)
      raw.send(Array(answer.utf8))
    }
    #expect(result == unavailable("closed the connection before it connected", of: listener))
  }

  @Test(arguments: [false, true]) func aProxyThatNeverAnswersTimesOut(_ isSocks: Bool) async throws {
    let listener = try FrameListener()
    let option = isSocks ? socks(listener) : proxy(listener)
    let result = try await call(option) { transport in
      let raw = listener.acceptRaw()
      raw.send(isSocks ? [5, 0] : Array("HTTP/1.1 ".utf8))
      await transport.loop.until { transport.asksProxy }
      await transport.loop.advance(by: .seconds(21))
      #expect(raw.readToEnd())
    }
    #expect(result == unavailable("did not answer in time", of: listener))
  }

  @Test func anUnreachableProxyIsReported() async throws {
    let closed = try LoopbackSocket.listening()
    close(closed.descriptor)
    let result = try await call(.http(host: "127.0.0.1", port: closed.port)) { _ in }
    let message = "cannot connect to the proxy 127.0.0.1:\(closed.port): connection refused"
    #expect(result == .failure(GRPCStatus(code: .unavailable, message: message)))
  }

  @Test func aProxyThatIsNotFoundFailsTheCall() async throws {
    let result = try await call(.socks5(host: "nowhere.invalid", port: 1080)) { _ in }
    guard case .failure(let status) = result else {
      Issue.record("a call without a proxy succeeds")
      return
    }
    #expect(status.code == .unavailable)
    #expect(status.message?.hasPrefix("the proxy nowhere.invalid:1080 was not found: ") == true)
  }

  /// The proxy's own name is resolved here, the target's is not.
  @Test func theEnvironmentsProxyIsUsed() async throws {
    let listener = try FrameListener()
    let environment = ProxyEnvironment(
      proxy: "http://alice:sesame@localhost:\(listener.port)/",
      exceptions: "other.test"
    )
    let result = try await call(Self.target, Self.options, environment) { _ in
      let raw = listener.acceptRaw()
      #expect(question(raw) == Self.asked + Self.authorization + "\r\n")
      raw.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
      try serve(FramePeer(serving: raw))
    }
    #expect(result == .success([7]))
  }

  /// Whether a name needs a proxy is said once: its addresses are not judged again, which have no name. Proxy and server
  /// are the same listener, and the address, which is not one of loopback, leads to it on Linux.
  @Test(arguments: [("exempt.test", "PRI"), (".test", "PRI"), ("other.test,0.0.0.0/8", "CON")])
  func aNameIsExemptWhereverItLeads(_ sample: (exceptions: String, opening: String)) async throws {
    let names = try ScriptedNameServer {
      [$0.type == DNSBytes.a ? $0.answer([DNSBytes.record(DNSBytes.a, [0, 0, 0, 0])]) : $0.answer([])]
    }
    let listener = try FrameListener()
    let environment = ProxyEnvironment(
      proxy: "http://alice:sesame@127.0.0.1:\(listener.port)",
      exceptions: sample.exceptions
    )
    let target = "dns://\(names.authority)/exempt.test:\(listener.port)"
    _ = try await call(target, Self.options, environment) { _ in
      #expect(String(decoding: listener.acceptRaw().read(3), as: UTF8.self) == sample.opening)
    }
  }

  /// The same for the addresses that a resolver of the program finds under a name.
  @Test func addressesOfAnExemptNameNeedNoProxy() {
    let environment = ProxyEnvironment(proxy: "proxy:3128", exceptions: "exempt.test,10.0.0.0/8")
    for (name, isDirect) in [
      ("exempt.test", true), ("a.exempt.test:80", true), ("localhost", true), ("other.test", false),
      ("10.0.0.1:80", false), ("no name", false),
    ] {
      #expect((environment.option(.environment, for: name) == .none) == isDirect)
    }
    let option = ProxyOption.http(host: "proxy", port: 1)
    #expect(environment.option(option, for: "exempt.test") == option)
  }

  /// Addresses are asked for one after the other.
  @Test func anAddressTheProxyCannotReachIsSkipped() async throws {
    let listener = try FrameListener()
    let result = try await call(proxy(listener), to: "ipv4:10.0.0.1:80,10.0.0.2:81") { _ in
      let first = listener.acceptRaw()
      #expect(question(first).hasPrefix("CONNECT 10.0.0.1:80 "))
      first.send(Array("HTTP/1.1 504 Gateway Timeout\r\n\r\n".utf8))
      let second = listener.acceptRaw()
      #expect(question(second).hasPrefix("CONNECT 10.0.0.2:81 "))
      second.send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
      try serve(FramePeer(serving: second))
    }
    #expect(result == .success([7]))
  }

  @Test func aChannelThatShutsDownLeavesTheProxy() async throws {
    let listener = try FrameListener()
    let result = try await call(proxy(listener)) { transport in
      let raw = listener.acceptRaw()
      _ = question(raw)
      await transport.loop.until { transport.asksProxy }
      await transport.shutDown(grace: .zero)
      #expect(raw.readToEnd())
    }
    #expect(result == .failure(.channelShutDown))
  }

  private final class Lines: LogHandler {
    let all = Locked<[String]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      all.withLock { $0.append("\(level) \(message) \(metadata)") }
    }
  }

  @Test func errorsAndLogsHideTheCredentials() async throws {
    let listener = try FrameListener()
    let log = Lines()
    var options = Self.options
    options.proxy = proxy(listener, Self.alice)
    options.logger = Logger(log, minimumLevel: .trace)
    let result = try await call(Self.target, options, ProxyEnvironment()) { transport in
      let raw = listener.acceptRaw()
      _ = question(raw)
      raw.send(Array("HTTP/1.1 407 no\r\n".utf8))
      await transport.loop.until { transport.state == .transientFailure }
      let events = await transport.loop.onLoop { transport.trace.events.map(\.description) }
      for event in events { log.log(.info, event, [:]) }
    }
    let told = log.all.withLock { $0 }.joined(separator: "\n") + "\(result)"
    #expect(told.contains("the proxy 127.0.0.1:\(listener.port) refused: 407 no"))
    #expect(!told.contains("alice") && !told.contains("sesame") && !told.contains("YWxpY2U6c2VzYW1l"))
  }

  // MARK: SOCKS 5

  private let bound: [UInt8] = [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]

  @Test(arguments: [nil, alice]) func aCallGoesThroughSOCKS(_ credentials: ProxyCredentials?) async throws {
    let listener = try FrameListener()
    let result = try await call(socks(listener, credentials)) { _ in
      let raw = listener.acceptRaw()
      if credentials == nil {
        #expect(raw.read(3) == [5, 1, 0])
        raw.send([5, 0])
      } else {
        #expect(raw.read(4) == [5, 2, 0, 2])
        raw.send([5, 2])
        #expect(raw.read(14) == [1, 5] + Array("alice".utf8) + [6] + Array("sesame".utf8))
        raw.send([1, 0])
      }
      #expect(raw.read(23) == [5, 1, 0, 3, 16] + Array("switchboard.test".utf8) + [1, 0xbb])
      // With the server's settings, and cut within them.
      let settings = FramePeer.frame(FramePeer.Kind.settings, 0, 0, [])
      raw.send(bound + settings.prefix(3))
      raw.send(Array(settings.dropFirst(3)))
      try serve(FramePeer(serving: raw))
    }
    #expect(result == .success([7]))
  }

  @Test(
    arguments: [
      ([5, 255], "refused: it requires authentication"), ([4, 0], "does not speak SOCKS 5"),
      ([0x48], "does not speak SOCKS 5"), ([5, 0, 5, 5], "refused: 5 connection refused"),
      ([5, 0, 5, 0, 0, 9, 0], "does not speak SOCKS 5"),
    ] as [([UInt8], String)]
  )
  func aSOCKSProxyThatRefusesSaysWhy(_ sample: (answer: [UInt8], message: String)) async throws {
    let listener = try FrameListener()
    let result = try await call(socks(listener)) { _ in
      let raw = listener.acceptRaw()
      raw.send(sample.answer)
      #expect(raw.readToEnd())
    }
    #expect(result == unavailable(sample.message, of: listener))
  }

  @Test func aSOCKSProxyThatClosesEarlyFailsTheCall() async throws {
    let listener = try FrameListener()
    let result = try await call(socks(listener)) { _ in
      let raw = listener.acceptRaw()
      _ = raw.read(3)
      raw.send([5, 0, 5])
      _ = raw.read(23)
    }
    #expect(result == unavailable("closed the connection before it connected", of: listener))
  }
}

extension Array where Element: Equatable {
  fileprivate func ends(with end: some Collection<Element>) -> Bool { suffix(end.count).elementsEqual(end) }
}

extension HTTP2ClientTransport {
  /// Whether a connection waits for a proxy's answer.
  fileprivate var asksProxy: Bool { subchannels.values.contains { $0.dialing?.handshake != nil } }
}

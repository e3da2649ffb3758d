import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Whatever prevents a secure connection, both sides report it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TLSErrorTests {
  /// Records the reasons that a server logs.
  private final class ReasonLog: LogHandler {
    private let first = Locked<String?>(nil)
    let isFilled = Signal()

    var reason: String? { first.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      first.withLock { if $0 == nil { $0 = metadata["reason"] } }
      isFilled.fire()
    }
  }

  /// The error of a call, and the server's log entry about it.
  private func failures(
    _ server: ServerTLS?,
    _ client: ClientTLS?,
    plaintext: ChannelSecurity = .plaintext,
    web: WebOptions? = nil
  ) async throws -> (client: String, server: String) {
    let log = ReasonLog()
    var serverOptions = ServerOptions()
    serverOptions.tls = server
    serverOptions.web = web
    serverOptions.logger = Logger(log, minimumLevel: .warning)
    var channelOptions = ChannelOptions()
    channelOptions.security = client.map { .tls($0) } ?? plaintext
    let failure = try await withChannel(to: [TestService()], options: serverOptions, channel: channelOptions)
    {
      channel async throws in
      let failure = await status { _ = try await Caller(channel: channel).get() }
      await log.isFilled.wait()
      return failure
    }
    #expect(failure?.code == .unavailable)
    return (failure?.message ?? "", log.reason ?? "")
  }

  private let serving = ServerTLS(credentials: TestCertificates.server)
  private let trusting = ClientTLS(trustRoots: TestCertificates.authority)

  @Test(arguments: [ChannelSecurity.plaintext, .automatic])
  func aPlaintextClientIsReported(_ security: ChannelSecurity) async throws {
    let said = try await failures(serving, nil, plaintext: security)
    let choice =
      security == .plaintext ? ".plaintext" : ".automatic, which means plaintext to a target on this machine"
    #expect(
      said.client == """
        the server ended the connection with HTTP/2 error 12: this port requires TLS (ChannelOptions.security is \
        \(choice); for this server, set security = .tls())
        """
    )
    #expect(
      said.server.hasSuffix(
        "TLS: the client does not speak TLS, which this port requires (ServerOptions.tls is set; "
          + "clients of such a port set ChannelOptions.security = .tls())"
      )
    )
  }

  /// A server for browsers waits to see which protocol a client speaks.
  @Test(arguments: [false, true]) func aPlaintextServerIsReported(_ isForBrowsers: Bool) async throws {
    let said = try await failures(nil, trusting, web: isForBrowsers ? WebOptions() : nil)
    #expect(
      said.client == """
        TLS: the server does not speak TLS, which the channel requires (ChannelOptions.security is .tls; \
        for this server, set security = .plaintext)
        """
    )
    #expect(
      said.server.hasSuffix(
        "TLS: the client speaks TLS, and this port does not (ServerOptions.tls is not set; "
          + "clients of such a port set ChannelOptions.security = .plaintext)"
      )
    )
  }

  @Test func anExpiredCertificateIsReported() async throws {
    let said = try await failures(
      ServerTLS(credentials: SpecialCertificates.expired),
      ClientTLS(trustRoots: SpecialCertificates.authority)
    )
    #expect(said.client == "TLS: the certificate of 127.0.0.1 was rejected: certificate has expired")
    #expect(said.server.contains("TLS: the client refused the connection: "))
    #expect(said.server.contains("certificate expired"))
  }

  @Test func aCertificateForAnotherNameIsReported() async throws {
    var tls = trusting
    tls.serverNameOverride = "elsewhere.test"
    let said = try await failures(serving, tls)
    #expect(
      said.client == """
        TLS: the certificate of elsewhere.test was rejected: hostname mismatch (it does not name elsewhere.test as a \
        subjectAltName: connect to a name that it has, or set ClientTLS.serverNameOverride to one)
        """
    )
    #expect(said.server.contains("TLS: the client refused the connection: "))
  }

  @Test func anUntrustedAuthorityIsReported() async throws {
    let said = try await failures(serving, ClientTLS(trustRoots: TestCertificates.stranger))
    #expect(said.client.hasPrefix("TLS: the certificate of 127.0.0.1 was rejected: unable to get"))
    #expect(said.server.contains("TLS: the client refused the connection: "))
    #expect(said.server.contains("unknown ca"))
  }

  @Test(arguments: [TLSVersion.tls12, .tls13]) func aMissingClientCertificateIsReported(_ version: TLSVersion)
    async throws
  {
    var server = serving
    server.clientCertificates = .required
    server.trustRoots = TestCertificates.authority
    server.minimumVersion = version
    let said = try await failures(server, trusting)
    #expect(said.client.hasPrefix("TLS: the server refused the connection: "))
    #expect(said.client.contains("certificate required"))
    #expect(said.server.contains("TLS: "))
    #expect(said.server.contains("peer did not return a certificate"))
  }

  /// Each half of what authenticates clients would be without effect, or trust everybody.
  @Test func halfAnAuthenticationOfClientsIsRefused() throws {
    func refusal(_ change: (inout ServerTLS) -> Void) -> GRPCStatus? {
      var tls = serving
      change(&tls)
      do {
        _ = try TLSContext(server: tls, allowsHTTP1: false)
        return nil
      } catch { return error }
    }
    let idle = refusal { $0.trustRoots = TestCertificates.authority }
    #expect(idle?.code == .invalidArgument && idle?.message?.contains("trustRoots has no effect") == true)
    for asked in [ServerTLS.ClientCertificates.optional, .required] {
      let open = refusal { $0.clientCertificates = asked }
      #expect(open?.code == .invalidArgument && open?.message?.contains("needs trustRoots") == true)
    }
    #expect(refusal { _ in } == nil)
  }

  @Test func anUntrustedClientCertificateIsReported() async throws {
    var server = serving
    server.clientCertificates = .required
    server.trustRoots = TestCertificates.authority
    var client = trusting
    client.credentials = SpecialCertificates.named
    let said = try await failures(server, client)
    #expect(said.client.hasPrefix("TLS: the server refused the connection: "))
    #expect(said.client.contains("unknown ca"))
    #expect(said.server.contains("TLS: the certificate of the client was rejected: unable to get"))
  }

  @Test func aClientWithoutHTTP2IsReported() async throws {
    let log = ReasonLog()
    var options = ServerOptions()
    options.tls = serving
    options.logger = Logger(log, minimumLevel: .warning)
    try await withServer([TestService()], options: options) { _, address async throws in
      let authority = try temporaryFile(TestCertificates.authority)
      let peer = try PythonPeer("tls_peer.py", ["client", "\(address.port)", authority])
      #expect(peer.line()?.lowercased().contains("no application protocol") == true)
      peer.stop()
      await log.isFilled.wait()
      #expect(log.reason?.hasSuffix("TLS: the peer does not offer HTTP/2 (ALPN h2)") == true)
    }
  }

  @Test func aServerWithoutHTTP2IsReported() async throws {
    let files = [TestCertificates.serverCertificate, TestCertificates.serverKey]
    let peer = try PythonPeer("tls_peer.py", ["server"] + (try files.map(temporaryFile)))
    var options = ChannelOptions()
    options.security = .tls(trusting)
    try await withChannel(to: "127.0.0.1:\(try #require(peer.line()))", options: options) {
      channel async throws in
      let failure = await status { _ = try await Caller(channel: channel).get() }
      #expect(failure?.code == .unavailable)
      #expect(failure?.message == "TLS: the peer does not offer HTTP/2 (ALPN h2)")
    }
    peer.stop()
  }
}

import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct TLSTests {
  private func channelOptions(_ tls: ClientTLS) -> ChannelOptions {
    var options = ChannelOptions()
    options.security = .tls(tls)
    return options
  }

  private func serverOptions(_ tls: ServerTLS) -> ServerOptions {
    var options = ServerOptions()
    options.tls = tls
    return options
  }

  private let trusting = ClientTLS(trustRoots: TestCertificates.authority)

  @Test(arguments: [TLSVersion.tls12, .tls13]) func bothVersionsWork(_ version: TLSVersion) async throws {
    let server = ServerTLS(credentials: TestCertificates.server, minimumVersion: version)
    try await TestPair.with(.tls, server: serverOptions(server)) { pair async throws in
      let large = [UInt8](repeating: 7, count: 1_000_000)
      #expect(try await pair.get(TestService.get, large) == large)
    }
  }

  @Test func theServerNameCanBeOverridden() async throws {
    var tls = trusting
    tls.serverNameOverride = "switchboard.test"
    try await TestPair.with(.tls, channel: channelOptions(tls)) { pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  /// The certificate is for `switchboard.test`, and the channel's name an address, which it is for too, or nobody's name.
  @Test(
    arguments: ["127.0.0.1", "nobody.example"],
    ["switchboard.test", "other.example", "10.0.0.1", "a:1"]
  )
  func anAddressMayHaveItsOwnServerName(_ usual: String, _ own: String) async throws {
    var tls = trusting
    tls.serverNameOverride = usual
    var options = channelOptions(tls)
    try await withServer(
      [TestService()],
      options: serverOptions(ServerTLS(credentials: TestCertificates.server))
    ) { _, address async throws in
      let server = EndpointAddress.ipv4(0x7F00_0001, port: UInt16(address.port))
      options.resolvers = [StaticResolver([Endpoint([.secured(server, as: own)])])]
      try await withChannel(to: "static:///localhost", options: options) { channel async throws in
        let failure = await status { _ = try await Caller(channel: channel).get() }
        let words: String? =
          switch own {
          case "switchboard.test": nil
          case "other.example": "it does not name other.example as a subjectAltName"
          case "10.0.0.1": "cannot ask a server for \"10.0.0.1\": an address is no name"
          default: "a name has no port and no scheme"
          }
        #expect(
          failure.map { $0.code == .unavailable && $0.message?.contains(words ?? "?") == true }
            ?? (words == nil)
        )
      }
    }
  }

  /// Names that OpenSSL takes for no name or for several, or that it cannot check.
  @Test(arguments: [
    "", ".", ".test", "a..b", "switchboard.test\0", "switchboard.test\0.example", "\0", "*.test", "a b",
    "bücher.test",
    "switchboard.test\n", "127.0.0.1\0", "127.0.0.1 x", "::1 x", "::1%lo", String(repeating: "a", count: 64),
    String(repeating: "abc.", count: 64) + "test",
  ]) func invalidNamesAreRefused(_ name: String) throws {
    var tls = trusting
    tls.serverNameOverride = name
    let failure = #expect(throws: GRPCStatus.self) {
      try Channel(target: "127.0.0.1:1", options: channelOptions(tls))
    }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message?.hasPrefix("TLS: cannot verify a certificate for ") == true)
    #expect(failure?.message?.contains("\0") == false)
  }

  @Test(arguments: ["switchboard.test:443", "https://switchboard.test"])
  func aNameWithAPortIsToldSo(_ name: String) throws {
    var tls = trusting
    tls.serverNameOverride = name
    let failure = #expect(throws: GRPCStatus.self) {
      try Channel(target: "127.0.0.1:1", options: channelOptions(tls))
    }
    #expect(
      failure?.message?.contains("a name has no port and no scheme") == true,
      "\(failure?.message ?? "")"
    )
  }

  @Test(arguments: [
    "a", "a-b.c_d", "127.0.0.1", "::1", String(repeating: "a", count: 63), "SWITCHBOARD.test", "a.test.",
  ])
  func validNamesAreAccepted(_ name: String) throws {
    var tls = trusting
    tls.serverNameOverride = name
    _ = try Channel(target: "127.0.0.1:1", options: channelOptions(tls))
  }

  /// A name counts only as one of the names of the server, and a star only for a whole label.
  @Test(arguments: [
    (SpecialCertificates.commonName, "name.switchboard.test", false),
    (SpecialCertificates.starred, "name.switchboard.test", false),
    (SpecialCertificates.starred, "name.whole.test", true),
  ])
  func namesAreThoseThatTheCertificateIsFor(
    _ sample: (certificate: PEMSource, name: String, isAccepted: Bool)
  ) async throws {
    let server = ServerTLS(
      credentials: TLSCredentials(certificateChain: sample.certificate, privateKey: sample.certificate)
    )
    var client = ClientTLS(trustRoots: sample.certificate)
    client.serverNameOverride = sample.name
    try await TestPair.with(.tls, server: serverOptions(server), channel: channelOptions(client)) {
      pair async throws in
      let failure = await status { _ = try await pair.get() }
      #expect((failure == nil) == sample.isAccepted, "\(String(describing: failure))")
      if !sample.isAccepted { #expect(failure?.code == .unavailable) }
    }
  }

  /// The data after a certificate must be one too.
  @Test func aChainWithAnInvalidCertificateIsRejected() throws {
    guard case .bytes(let whole) = TestCertificates.serverCertificate else { return }
    let broken = whole + Array("\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
    let credentials = TLSCredentials(certificateChain: .bytes(broken), privateKey: TestCertificates.serverKey)
    let failure = #expect(throws: GRPCStatus.self) {
      try Server(providers: [], options: serverOptions(ServerTLS(credentials: credentials)))
    }
    #expect(failure?.message?.hasPrefix("TLS: a certificate in the certificate chain is malformed") == true)
  }

  @Test func aMissingFileIsNamed() throws {
    let credentials = TLSCredentials(certificateChain: .file("no/chain.pem"), privateKey: .file("no/key.pem"))
    let failure = #expect(throws: GRPCStatus.self) {
      try Server(providers: [], options: serverOptions(ServerTLS(credentials: credentials)))
    }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == "TLS: cannot read the certificate chain (no/chain.pem): no such file")
  }

  /// As in a client's `pemRootCert`. A key may look like a path, so neither is shown.
  @Test(arguments: ["/etc/ssl/ca.pem", "./ca.crt", "certs/ca.pem"])
  func aPathInPlaceOfPEMIsExplained(_ path: String) throws {
    let tls = ClientTLS(trustRoots: .bytes(Array(path.utf8)))
    var options = ChannelOptions()
    options.security = .tls(tls)
    let failure = #expect(throws: GRPCStatus.self) { try Channel(target: "localhost:1", options: options) }
    #expect(failure?.code == .invalidArgument)
    let hint =
      "this looks like a path, and is for the PEM text itself; give the path as PEMSource.file(path)"
    #expect(failure?.message?.hasPrefix("TLS: no certificate in the trust roots: \(hint)") == true)
    for key in [path, "c2VjcmV0"] {
      let credentials = TLSCredentials(
        certificateChain: TestCertificates.server.certificateChain,
        privateKey: .bytes(Array(key.utf8))
      )
      let failure = #expect(throws: GRPCStatus.self) {
        try Server(providers: [], options: serverOptions(ServerTLS(credentials: credentials)))
      }
      #expect(failure?.message?.contains(key) == false)
    }
  }

  @Test func aDirectoryIsRejectedAsAFile() throws {
    let credentials = TLSCredentials(certificateChain: .file("/"), privateKey: .file("no/key.pem"))
    let failure = #expect(throws: GRPCStatus.self) {
      try Server(providers: [], options: serverOptions(ServerTLS(credentials: credentials)))
    }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == "TLS: cannot read the certificate chain (/): is a directory")
  }

  @Test func aFileThatCannotBeOpenedIsExplainedByTheSystem() throws {
    let path = String(repeating: "a", count: 300)
    let credentials = TLSCredentials(certificateChain: .file(path), privateKey: .file("no/key.pem"))
    let failure = #expect(throws: GRPCStatus.self) {
      try Server(providers: [], options: serverOptions(ServerTLS(credentials: credentials)))
    }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == "TLS: cannot read the certificate chain (\(path)): name too long")
  }

  @Test func aKeyThatIsNoneIsRejected() throws {
    let credentials = TLSCredentials(
      certificateChain: TestCertificates.serverCertificate,
      privateKey: .bytes(Array("no key".utf8))
    )
    let failure = #expect(throws: GRPCStatus.self) {
      try Server(providers: [], options: serverOptions(ServerTLS(credentials: credentials)))
    }
    #expect(failure?.code == .invalidArgument)
    #expect(
      failure?.message?.hasPrefix("TLS: the private key is not a key in PEM without a password") == true
    )
  }

  @Test func aRequiredClientCertificateIsShownToHandlers() async throws {
    let server = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .required,
      trustRoots: TestCertificates.authority
    )
    var client = trusting
    client.credentials = TestCertificates.client
    try await TestPair.with(.tls, server: serverOptions(server), channel: channelOptions(client)) {
      pair async throws in
      let identity = String(decoding: try await pair.get(TestService.identify), as: UTF8.self)
      #expect(identity.hasPrefix("CN=test client dns(\"client.switchboard.test\")"))
      #expect(identity.contains("-----BEGIN CERTIFICATE-----"))
    }
  }

  @Test func anOptionalClientCertificateMayBeMissing() async throws {
    let server = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .optional,
      trustRoots: TestCertificates.authority
    )
    try await TestPair.with(.tls, server: serverOptions(server)) { pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func certificatesAreReloadedForNewConnections() async throws {
    try await withServer(
      [TestService()],
      options: serverOptions(ServerTLS(credentials: TestCertificates.server))
    ) { server, address async throws in
      try server.reload(ServerTLS(credentials: TestCertificates.renewed))
      var tls = trusting
      tls.serverNameOverride = "switchboard.test"
      // The renewed certificate does not have this name.
      for (name, isFine) in [("switchboard.test", false), ("localhost", true)] {
        tls.serverNameOverride = name
        try await withChannel(to: "\(address)", options: channelOptions(tls)) { channel async throws in
          let failure = await status {
            _ = try await channel.call(TestService.get).unary([])
          }
          #expect((failure == nil) == isFine)
        }
      }
    }
  }

  @Test func reloadingReadsCertificateFilesAgain() async throws {
    let chain = try temporaryFile(TestCertificates.serverCertificate)
    let key = try temporaryFile(TestCertificates.serverKey)
    let files = TLSCredentials(certificateChain: .file(chain), privateKey: .file(key))
    var tls = trusting
    tls.serverNameOverride = "switchboard.test"
    try await TestPair.with(
      .tls,
      server: serverOptions(ServerTLS(credentials: files)),
      channel: channelOptions(tls)
    ) { pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
      try write(TestCertificates.renewedCertificate, to: chain)
      // One alone does not match the other, and nothing changes.
      #expect(throws: GRPCStatus.self) { try pair.server.reloadCertificates() }
      try write(TestCertificates.renewedKey, to: key)
      try pair.server.reloadCertificates()
      // Open connections keep theirs; the renewed certificate does not have this name.
      #expect(try await pair.get() == [1, 2, 3])
      try await withChannel(to: "\(pair.address)", options: channelOptions(tls)) { late async throws in
        #expect(await status { _ = try await Caller(channel: late).get() }?.code == .unavailable)
      }
    }
  }

  @Test func aKeyAndItsChainCanBeOne() async throws {
    let server = ServerTLS(credentials: SpecialCertificates.chained)
    let client = ClientTLS(trustRoots: SpecialCertificates.authority)
    try await TestPair.with(.tls, server: serverOptions(server), channel: channelOptions(client)) {
      pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func allNamesOfAClientAreShownToHandlers() async throws {
    let server = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .optional,
      trustRoots: SpecialCertificates.authority
    )
    var client = trusting
    client.credentials = SpecialCertificates.named
    try await TestPair.with(.tls, server: serverOptions(server), channel: channelOptions(client)) {
      pair async throws in
      let identity = String(decoding: try await pair.get(TestService.identify), as: UTF8.self)
      let names = [
        #"dns("client.switchboard.test")"#, #"uri("spiffe://switchboard.test/client")"#,
        #"email("client@switchboard.test")"#, #"ipAddress("10.0.0.1")"#,
        #"ipAddress("2001:db8:0:0:0:0:0:1")"#,
      ]
      #expect(identity.hasPrefix("CN=named client " + names.joined(separator: " ")))
    }
  }

  @Test func aKeyOfAnotherCertificateIsRefusedAtOnce() {
    let mixed = TLSCredentials(
      certificateChain: TestCertificates.serverCertificate,
      privateKey: TestCertificates.clientKey
    )
    #expect(throws: GRPCStatus.self) {
      try Server(providers: [], options: serverOptions(ServerTLS(credentials: mixed)))
    }
  }
}

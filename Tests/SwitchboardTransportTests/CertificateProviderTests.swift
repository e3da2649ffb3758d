import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Certificates that change while servers and channels use them.
@Suite(.timeLimit(.minutes(5))) struct CertificateProviderTests {
  /// Only the first of the two certificates of servers has this name.
  private static let nameOfOne = "switchboard.test"

  private let entries = LogEntries()

  private func serverOptions(_ tls: ServerTLS) -> ServerOptions {
    var options = ServerOptions()
    options.tls = tls
    options.logger = Logger(entries)
    return options
  }

  private func channelOptions(_ tls: ClientTLS) -> ChannelOptions {
    var options = ChannelOptions()
    options.security = .tls(tls)
    options.logger = Logger(entries)
    return options
  }

  /// Why a call on a connection of its own fails; `nil` if it does not.
  private func failure(_ address: SocketAddress, _ tls: ClientTLS) async throws -> GRPCStatus? {
    try await withChannel(to: "\(address)", options: channelOptions(tls)) { channel async throws in
      await status { _ = try await Caller(channel: channel).get() }
    }
  }

  private func trusting(_ name: String = "localhost") -> ClientTLS {
    ClientTLS(trustRoots: TestCertificates.authority, serverNameOverride: name)
  }

  @Test func newConnectionsOfAServerUseWhatItsProviderHas() async throws {
    let provider = MemoryCertificates(CertificateSet(credentials: TestCertificates.server))
    let tls = ServerTLS(credentials: TLSCredentials(provider))
    try await withPair(
      [TestService()],
      options: serverOptions(tls),
      channel: channelOptions(trusting(Self.nameOfOne))
    ) { pair async throws in
      #expect(try await Caller(channel: pair.channel).get() == [1, 2, 3])
      provider.replace(with: CertificateSet(credentials: TestCertificates.renewed))
      #expect(try await failure(pair.address, trusting(Self.nameOfOne))?.code == .unavailable)
      #expect(try await failure(pair.address, trusting()) == nil)
      // Open connections keep theirs.
      #expect(try await Caller(channel: pair.channel).get() == [1, 2, 3])
      #expect(pair.server.configuration.tlsOptions == tls)
      let notes = entries.all(from: .info).filter { $0.message == "new connections use other certificates" }
      #expect(notes.count == 1)
    }
  }

  @Test func whatAProviderHasAndCannotBeUsedChangesNothing() async throws {
    let provider = MemoryCertificates(CertificateSet(credentials: TestCertificates.server))
    let tls = ServerTLS(credentials: TLSCredentials(provider))
    try await withServer([TestService()], options: serverOptions(tls)) { _, address async throws in
      let mismatch = TLSCredentials(
        certificateChain: TestCertificates.serverCertificate,
        privateKey: TestCertificates.renewedKey
      )
      for unusable in [CertificateSet(credentials: mismatch), CertificateSet()] {
        provider.replace(with: unusable)
        for _ in 0..<3 { #expect(try await failure(address, trusting(Self.nameOfOne)) == nil) }
      }
      // Once for each.
      let reasons = entries.all(from: .warning).map { $0.metadata["reason"] ?? "" }
      #expect(reasons.count == 2)
      #expect(reasons.first?.contains("do not match") == true)
      #expect(reasons.last?.contains("the certificate provider has no certificate") == true)
      provider.replace(with: CertificateSet(credentials: TestCertificates.renewed))
      #expect(try await failure(address, trusting()) == nil)
    }
  }

  @Test func bothSidesMayTakeAllFromProviders() async throws {
    let own = CertificateSet(credentials: TestCertificates.server, trustRoots: TestCertificates.authority)
    let server = MemoryCertificates(own)
    let client = MemoryCertificates(
      CertificateSet(credentials: TestCertificates.client, trustRoots: TestCertificates.authority)
    )
    let options = serverOptions(
      ServerTLS(
        credentials: TLSCredentials(server),
        clientCertificates: .required,
        trustRoots: .provider(server)
      )
    )
    let tls = ClientTLS(
      trustRoots: .provider(client),
      credentials: TLSCredentials(client),
      serverNameOverride: "localhost"
    )
    try await withServer([TestService()], options: options) { _, address async throws in
      #expect(try await failure(address, tls) == nil)
      // Authorities that have issued neither.
      client.replace(
        with: CertificateSet(credentials: TestCertificates.client, trustRoots: TestCertificates.stranger)
      )
      #expect(try await failure(address, tls)?.message?.contains("was rejected") == true)
      client.replace(
        with: CertificateSet(credentials: TestCertificates.client, trustRoots: TestCertificates.authority)
      )
      server.replace(
        with: CertificateSet(credentials: TestCertificates.server, trustRoots: TestCertificates.stranger)
      )
      #expect(try await failure(address, tls)?.code == .unavailable)
      server.replace(with: own)
      #expect(try await failure(address, tls) == nil)
    }
  }

  /// A provider of a program's own, whose certificate and key change with each answer.
  private final class Alternating: CertificateProvider {
    private let count = Locked(0)

    func certificates() -> CertificateSet {
      let number = count.withLock { count in
        count += 1
        return count
      }
      return CertificateSet(
        credentials: number % 2 == 0 ? TestCertificates.server : TestCertificates.renewed,
        trustRoots: TestCertificates.authority
      )
    }
  }

  @Test func aConnectionTakesWhatBelongsTogether() async throws {
    let provider = Alternating()
    let tls = ServerTLS(
      credentials: TLSCredentials(provider),
      clientCertificates: .optional,
      trustRoots: .provider(provider)
    )
    try await withServer([TestService()], options: serverOptions(tls)) { _, address async throws in
      for _ in 0..<8 { #expect(try await failure(address, trusting()) == nil) }
    }
    #expect(entries.all(from: .warning).isEmpty)
  }

  @Test func noCallIsLostWhileCertificatesRotate() async throws {
    let server = MemoryCertificates(CertificateSet(credentials: TestCertificates.server))
    let client = MemoryCertificates(CertificateSet(trustRoots: TestCertificates.authority))
    let tls = ServerTLS(credentials: TLSCredentials(server))
    let trusting = ClientTLS(trustRoots: .provider(client), serverNameOverride: "localhost")
    try await withServer([TestService()], options: serverOptions(tls)) { _, address async throws in
      try await withChannel(to: "\(address)", options: channelOptions(trusting)) { lasting async throws in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for caller in 0..<6 {
            group.addTask { () async throws in
              for _ in 0..<15 {
                // Half of the calls are on connections that begin meanwhile.
                if caller % 2 == 0 {
                  #expect(try await Caller(channel: lasting).get() == [1, 2, 3])
                } else {
                  #expect(try await failure(address, trusting) == nil)
                }
              }
            }
          }
          group.addTask { () async throws in
            for turn in 0..<40 {
              let next = turn % 2 == 0 ? TestCertificates.renewed : TestCertificates.server
              server.replace(with: CertificateSet(credentials: next))
              client.replace(with: CertificateSet(trustRoots: TestCertificates.authority))
              await Task.yield()
            }
          }
          try await group.waitForAll()
        }
      }
    }
  }

  @Test func optionsThatTakeFromAProviderWhatItLacksAreRefused() throws {
    let empty = MemoryCertificates(CertificateSet())
    let nested = MemoryCertificates(CertificateSet(trustRoots: .provider(empty)))
    for (tls, reason) in [
      (ClientTLS(trustRoots: .provider(empty)), "the certificate provider has no trust roots"),
      (ClientTLS(credentials: TLSCredentials(empty)), "the certificate provider has no certificate"),
      (ClientTLS(trustRoots: .provider(nested)), "is a provider itself"),
    ] {
      let failure = #expect(throws: GRPCStatus.self) {
        try Channel(target: "localhost:1", options: channelOptions(tls))
      }
      #expect(failure?.code == .invalidArgument)
      #expect(failure?.message?.contains(reason) == true, "\(failure?.message ?? "")")
    }
    let key = #expect(throws: GRPCStatus.self) { try SigningKey(.provider(empty)) }
    #expect(key?.code == .invalidArgument)
  }

  @Test func aServerWithAProviderReadsNothingAgain() throws {
    let provider = MemoryCertificates(CertificateSet(credentials: TestCertificates.server))
    let server = try Server(
      providers: [TestService()],
      options: serverOptions(ServerTLS(credentials: TLSCredentials(provider)))
    )
    let failure = #expect(throws: GRPCStatus.self) { try server.reloadCertificates() }
    #expect(failure?.message?.contains("come from a provider") == true)
  }

  @Test func optionsAreEqualWithTheSameProvider() {
    let (one, other) = (MemoryCertificates(CertificateSet()), MemoryCertificates(CertificateSet()))
    #expect(PEMSource.provider(one) == .provider(one) && PEMSource.provider(one) != .provider(other))
    #expect(PEMSource.file("a") == .file("a") && PEMSource.file("a") != .bytes([0x61]))
    #expect(Set([PEMSource.provider(one), .provider(one), .provider(other), .bytes([1])]).count == 3)
  }
}

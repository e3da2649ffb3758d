import CallTestSupport
import CertificateSupport
import Foundation
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct FileCertificateTests {
  /// Longer than any test.
  fileprivate static let never = Duration.seconds(1_000_000)

  private struct Files {
    let chain: String
    let key: String
    let roots: String

    init() throws {
      chain = try temporaryFile(TestCertificates.serverCertificate)
      key = try temporaryFile(TestCertificates.serverKey)
      roots = try temporaryFile(TestCertificates.authority)
    }

    func watched(_ interval: Duration = FileCertificateTests.never, logger: Logger = .quiet) throws
      -> FileCertificates
    {
      try FileCertificates(
        certificateChain: chain,
        privateKey: key,
        trustRoots: roots,
        interval: interval,
        logger: logger
      )
    }
  }

  private var first: CertificateSet {
    CertificateSet(credentials: TestCertificates.server, trustRoots: TestCertificates.authority)
  }

  @Test func filesChangeTogetherOrNotAtAll() throws {
    let files = try Files()
    let provider = try files.watched()
    #expect(try provider.certificates() == first)
    try write(TestCertificates.renewedCertificate, to: files.chain)
    let mismatch = #expect(throws: GRPCStatus.self) { try provider.refresh() }
    #expect(mismatch?.message?.contains("do not match") == true)
    #expect(try provider.certificates() == first)
    try write(TestCertificates.renewedKey, to: files.key)
    try provider.refresh()
    #expect(try provider.certificates().credentials == TestCertificates.renewed)
    // Roots that are no certificates keep what was there.
    try write(.bytes(Array("no certificate".utf8)), to: files.roots)
    #expect(throws: GRPCStatus.self) { try provider.refresh() }
    #expect(try provider.certificates().trustRoots == TestCertificates.authority)
  }

  /// A pipe that nobody writes to is not waited for, nor a device that has no end.
  @Test(.timeLimit(.minutes(1))) func onlyRegularFilesAreRead() throws {
    let pipe = try temporaryFile(.bytes([]))
    try FileManager.default.removeItem(atPath: pipe)
    #expect(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, "/dev/zero", "/"] {
      let status = #expect(throws: GRPCStatus.self) {
        try FileCertificates(trustRoots: path, interval: Self.never, logger: .quiet)
      }
      #expect(status?.message?.hasSuffix(" cannot be read: it is no regular file") == true)
    }
  }

  @Test func filesAreReadAgainByThemselves() async throws {
    let files = try Files()
    let provider = try files.watched(.milliseconds(1))
    var options = ServerOptions()
    options.tls = ServerTLS(credentials: TLSCredentials(provider))
    try await withServer([TestService()], options: options) { _, address async throws in
      try write(TestCertificates.renewedCertificate, to: files.chain)
      try write(TestCertificates.renewedKey, to: files.key)
      while try provider.certificates() == first { try await Task.sleep(for: .milliseconds(1)) }
      var tls = ClientTLS(trustRoots: TestCertificates.authority)
      for (name, isFine) in [("localhost", true), ("switchboard.test", false)] {
        tls.serverNameOverride = name
        var channel = ChannelOptions()
        channel.security = .tls(tls)
        channel.logger = .quiet
        try await withChannel(to: "\(address)", options: channel) { channel async throws in
          let failure = await status { _ = try await Caller(channel: channel).get() }
          #expect((failure == nil) == isFine)
        }
      }
    }
  }

  /// The log says what stays wrong, once, and not what is wrong for the time of one reading.
  @Test func filesThatStayUnusableAreLogged() async throws {
    let files = try Files()
    let entries = LogEntries()
    let provider = try files.watched(.milliseconds(1), logger: Logger(entries))
    try replace(files.chain, by: TestCertificates.renewedCertificate)
    while entries.all.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    try replace(files.key, by: TestCertificates.renewedKey)
    while try provider.certificates() == first { try await Task.sleep(for: .milliseconds(1)) }
    #expect(entries.all.map(\.message) == ["certificate files cannot be used"])
    #expect(entries.all.first?.metadata["reason"]?.contains("do not match") == true)
  }

  /// Those of a mesh may come later, and be read again after minutes: the log does not wait for that.
  @Test func filesThatAreNotThereYetAreLogged() async throws {
    let entries = LogEntries()
    let provider = try FileCertificates(
      lateCertificateChain: nil,
      privateKey: nil,
      trustRoots: "/nowhere/ca.pem",
      interval: Self.never,
      logger: Logger(entries)
    )
    while entries.all.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(entries.all.map(\.message) == ["certificate files cannot be used"])
    #expect(entries.all.first?.metadata["reason"]?.contains("/nowhere/ca.pem") == true)
    withExtendedLifetime(provider) {}
  }

  /// Nobody sees a part of it.
  private func replace(_ path: String, by source: PEMSource) throws {
    guard case .bytes(let bytes) = source else { return }
    try Data(bytes).write(to: URL(filePath: path), options: .atomic)
  }

  @Test func nobodyKeepsAProviderThatIsNotUsed() throws {
    let files = try Files()
    weak var provider: FileCertificates?
    do {
      let made = try files.watched()
      provider = made
      #expect(try made.certificates() == first)
    }
    #expect(provider == nil)
  }

  @Test func filesThatCannotBeUsedAreRefusedAtTheStart() throws {
    let files = try Files()
    func refusal(
      _ chain: String?,
      _ key: String?,
      _ roots: String?,
      _ interval: Duration = FileCertificateTests.never
    ) -> String? {
      do throws(GRPCStatus) {
        _ = try FileCertificates(
          certificateChain: chain,
          privateKey: key,
          trustRoots: roots,
          interval: interval,
          logger: .quiet
        )
        return nil
      } catch { return error.code == .invalidArgument ? error.message : "\(error)" }
    }
    #expect(refusal(files.chain, files.key, nil) == nil && refusal(nil, nil, files.roots) == nil)
    #expect(refusal(files.chain, nil, nil)?.hasSuffix("a certificate and its key are given together") == true)
    #expect(refusal(nil, nil, nil)?.hasSuffix("there is neither a certificate nor trustRoots") == true)
    #expect(refusal("/none.pem", files.key, nil) == "/none.pem cannot be read: No such file or directory")
    #expect(refusal("/", files.key, nil) == "/ cannot be read: it is no regular file")
    #expect(refusal(files.roots, files.key, nil)?.contains("do not match") == true)
    #expect(refusal(files.chain, files.key, nil, .zero)?.hasSuffix("interval is below 1 ms") == true)
  }
}

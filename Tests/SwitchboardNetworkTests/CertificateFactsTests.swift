import CertificateSupport
import SwitchboardCall
import SwitchboardNetwork
import Testing

/// What is shown of certificates.
@Suite struct CertificateFactsTests {
  private func facts(_ certificate: PEMSource, _ key: PEMSource) throws -> TLSFacts {
    let credentials = TLSCredentials(certificateChain: certificate, privateKey: key)
    return try TLSContext(server: ServerTLS(credentials: credentials), allowsHTTP1: false).facts
  }

  @Test func anExpiredCertificateSaysWhenItWasValid() throws {
    let facts = try facts(SpecialCertificates.expiredCertificate, SpecialCertificates.expiredKey)
    let certificate = try #require(facts.certificate)
    #expect(certificate.validFrom == 1_577_836_800)
    #expect(certificate.validUntil == 1_609_459_200)
    #expect(certificate.subject == "CN=localhost")
    #expect(certificate.issuer == "CN=Switchboard Test ca2")
    #expect(certificate.serial == "02")
    #expect(certificate.names == [.dns("localhost"), .ipAddress("127.0.0.1")])
    #expect(facts.trustedCount == 0 && facts.serverName == nil)
  }

  @Test func timesBeyond2038AreRead() throws {
    let facts = try facts(TestCertificates.serverCertificate, TestCertificates.serverKey)
    #expect(try #require(facts.certificate).validUntil > 1 << 32)
  }

  @Test func whatAClientTrustsIsCounted() throws {
    let tls = ClientTLS(trustRoots: TestCertificates.authority)
    let facts = try TLSContext(client: tls, serverName: "localhost").facts
    #expect(facts.certificate == nil && facts.trustedCount == 1 && facts.serverName == "localhost")
  }

  @Test func whatIsNoCertificateSaysNothing() { #expect(CertificateFacts(der: [1, 2, 3]) == nil) }
}

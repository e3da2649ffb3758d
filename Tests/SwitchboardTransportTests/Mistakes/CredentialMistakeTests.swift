import CertificateSupport
import Foundation
import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// What stands in place of a certificate or a key is named in the error.
@Suite(.timeLimit(.minutes(5))) struct CredentialMistakeTests {
  /// The binary form of what is in PEM.
  private func der(_ source: PEMSource) throws -> [UInt8] {
    guard case .bytes(let bytes) = source else { return [] }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let text = lines.filter { !$0.hasPrefix("-----") }.joined()
    return Array(try #require(Data(base64Encoded: text)))
  }

  private func failure(_ chain: PEMSource, _ key: PEMSource) -> String {
    var options = ServerOptions()
    options.tls = ServerTLS(credentials: TLSCredentials(certificateChain: chain, privateKey: key))
    let failure = #expect(throws: GRPCStatus.self) { try Server(providers: [], options: options) }
    #expect(failure?.code == .invalidArgument)
    return failure?.message ?? ""
  }

  private let certificate = TestCertificates.serverCertificate
  private let key = TestCertificates.serverKey

  @Test func filesThatAreSwappedAreSaidToBe() throws {
    let (chain, key) = (try temporaryFile(key), try temporaryFile(certificate))
    let reason = "this is a private key, not a certificate: the two files seem to be swapped"
    #expect(
      failure(.file(chain), .file(key))
        == "TLS: no certificate in the certificate chain (\(chain)): \(reason)"
    )
    // A channel says the same.
    var options = ChannelOptions()
    let credentials = TLSCredentials(certificateChain: .file(chain), privateKey: .file(key))
    options.security = .tls(ClientTLS(credentials: credentials))
    let status = #expect(throws: GRPCStatus.self) { try Channel(target: "localhost:1", options: options) }
    #expect(status?.message?.hasSuffix(reason) == true, "\(status?.message ?? "")")
  }

  @Test func bytesThatAreSwappedAreSaidToBe() {
    let said = failure(key, certificate)
    #expect(
      said.hasSuffix(": this is a private key, not a certificate: the two seem to be swapped"),
      "\(said)"
    )
  }

  @Test func onePartInBothPlacesIsNotSaidToBeSwapped() {
    #expect(failure(key, key).hasSuffix(": this is a private key, not a certificate"))
    #expect(failure(certificate, certificate).hasSuffix(": this is a certificate, not a private key"))
  }

  @Test func aKeyInPlaceOfRootsIsNamed() {
    var options = ChannelOptions()
    options.security = .tls(ClientTLS(trustRoots: key))
    let status = #expect(throws: GRPCStatus.self) { try Channel(target: "localhost:1", options: options) }
    #expect(
      status?.message == "TLS: no certificate in the trust roots: this is a private key, not a certificate"
    )
  }

  @Test func whatIsBinaryIsSaidToBe() throws {
    let command = "this looks like DER, not PEM: convert it with openssl"
    let chain = failure(.bytes(try der(certificate)), key)
    #expect(chain.hasSuffix(": \(command) x509 -inform der -in FILE -out FILE.pem"), "\(chain)")
    let other = failure(certificate, .bytes(try der(key)))
    #expect(other.hasSuffix(": \(command) pkey -inform der -in FILE -out FILE.pem"), "\(other)")
    // As short as a key of Ed25519.
    let short = failure(certificate, .bytes([0x30, 5, 2, 1, 0, 5, 0]))
    #expect(short.contains("pkey -inform der"), "\(short)")
    let archive = failure(.bytes([0x30, 0x81, 5, 2, 1, 3, 5, 0]), key)
    #expect(
      archive.hasSuffix(
        ": this looks like PKCS #12, not PEM: convert it with openssl pkcs12 -nodes -in FILE -out FILE.pem"
      )
    )
  }

  /// A length that is not that of the rest, or that is cut off.
  @Test(arguments: [
    [], [0x30], [0x30, 1], [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], [0x30, 0x82, 1], [0x30, 0xFF, 1], [0x31, 0],
  ])
  func otherBytesAreNotExplained(_ bytes: [UInt8]) {
    #expect(failure(.bytes(bytes), key) == "TLS: no certificate in the certificate chain")
  }
}

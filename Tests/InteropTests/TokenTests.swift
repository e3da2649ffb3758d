import Foundation
import Switchboard
import TestSupport
import Testing

@testable import Interop

struct TokenTests {
  private let account: ServiceAccount
  private let now = 1_800_000_000

  init() throws {
    account = try ServiceAccount(path: TestFolders.peers().appending(path: "service_account.json").path)
  }

  private func headers(_ token: String) -> HPACKHeaders { ["authorization": "Bearer \(token)"] }

  @Test func theVerifierAcceptsTheIssuersTokens() throws {
    let verifier = TokenVerifier(account: account)
    let scoped = try TokenIssuer(account: account, scope: "a b").makeToken(now: now)
    #expect(
      try verifier.holder(of: headers(scoped), now: now)
        == .init(name: "caller@switchboard.test", scope: "a b")
    )
    let plain = try TokenIssuer(account: account).makeToken(now: now)
    #expect(try verifier.holder(of: headers(plain), now: now + 3599).scope == "")
  }

  @Test func otherTokensAreRejected() throws {
    let verifier = TokenVerifier(account: account)
    let token = try TokenIssuer(account: account, scope: "a").makeToken(now: now)
    let parts = token.split(separator: ".")
    let none = Data(#"{"alg":"none","typ":"JWT","kid":"switchboard-test-key"}"#.utf8).base64EncodedString()
    let other = try WebToken.sign(
      WebToken.Claims(iss: "other", sub: "other", scope: nil, iat: now, exp: now + 10),
      with: account
    )
    let elsewhere = try TokenIssuer(account: account, scope: "b").makeToken(now: now).split(separator: ".")
    let forged = [
      "", "a", "a.b.c", "\(parts[0]).\(parts[1]).", "\(none).\(parts[1]).\(parts[2])", other,
      "\(parts[0]).\(elsewhere[1]).\(parts[2])", "\(token).",
    ]
    for text in forged {
      let status = #expect(throws: GRPCStatus.self) { try verifier.holder(of: headers(text), now: now) }
      #expect(status?.code == .unauthenticated)
    }
    for time in [now - 1, now + 3600] {
      #expect(throws: GRPCStatus.self) { try verifier.holder(of: headers(token), now: time) }
    }
    #expect(throws: GRPCStatus.self) { try verifier.holder(of: [:], now: now) }
  }

  @Test func anInvalidAccountFileIsRejected() {
    #expect(throws: Arguments.UsageError.self) { try ServiceAccount(path: "/nonexistent.json") }
    #expect(throws: Arguments.UsageError.self) { try ServiceAccount(path: #filePath) }
    #expect(throws: GRPCStatus.self) { try SigningKey(.bytes(Array("no key".utf8))) }
    #expect(throws: GRPCStatus.self) { try SigningKey(.bytes(Array(Self.ellipticKey.utf8))) }
  }

  /// A key that is not for RS256 and protects nothing.
  private static let ellipticKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgIuADAhXxKwHbtNY7
    kglEF1Fu+GZ5mBXWjH4FW6dEvVahRANCAARNfX9vBzT0sF8rNKMThjZ1oqAoKiDk
    BBBRRHVJvkpd2Wi9S/YD01dkKlVd/CBG4CrS+Fss8EC05BVqKYO1W3AQ
    -----END PRIVATE KEY-----
    """
}

import Foundation
import Switchboard

/// Issues tokens for a service account, in place of the service on the network.
struct TokenIssuer: Sendable, AuthTokenProvider {
  let account: ServiceAccount
  /// The scope of the tokens; `nil` for tokens that only identify the caller.
  var scope: String?

  /// A token that is valid for an hour.
  func makeToken(now: Int = Int(Date().timeIntervalSince1970)) throws -> String {
    let claims = WebToken.Claims(
      iss: account.email,
      sub: account.email,
      scope: scope,
      iat: now,
      exp: now + 3600
    )
    return try WebToken.sign(claims, with: account)
  }

  func token() async throws -> String? { try makeToken() }
}

/// Identifies the caller by the tokens of one service account.
struct TokenVerifier: Sendable {
  struct Holder: Equatable {
    let name: String
    let scope: String
  }

  let account: ServiceAccount

  /// The account of the token in the metadata; throws if there is no valid token.
  func holder(
    of headers: HPACKHeaders,
    now: Int = Int(Date().timeIntervalSince1970)
  ) throws(GRPCStatus) -> Holder {
    let scheme = "Bearer "
    guard let text = headers.first(name: "authorization"), text.hasPrefix(scheme) else {
      throw GRPCStatus(code: .unauthenticated, message: "no token")
    }
    do {
      let claims = try WebToken.claims(of: String(text.dropFirst(scheme.count)), for: account, now: now)
      return Holder(name: claims.sub, scope: claims.scope ?? "")
    } catch {
      throw GRPCStatus(code: .unauthenticated, message: error.rawValue)
    }
  }
}

import Foundation
import Switchboard

/// Gives out tokens for a service account, in the place of the service that does so on the network.
struct TokenIssuer: Sendable, AuthTokenProvider {
  let account: ServiceAccount
  /// What the tokens allow; `nil`: they only say who calls.
  var scope: String?

  /// A token for the next hour.
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

/// Tells from a call's metadata who makes it, by tokens of one service account.
struct TokenVerifier: Sendable {
  struct Holder: Equatable {
    let name: String
    let scope: String
  }

  let account: ServiceAccount

  /// Throws where there is no token, or it is not believed.
  func holder(
    of headers: HPACKHeaders,
    now: Int = Int(Date().timeIntervalSince1970)
  ) throws(GRPCStatus) -> Holder {
    let scheme = "Bearer "
    guard let text = headers.first(name: "authorization"), text.hasPrefix(scheme) else {
      throw GRPCStatus(code: .unauthenticated, message: "there is no token")
    }
    do {
      let claims = try WebToken.claims(of: String(text.dropFirst(scheme.count)), for: account, now: now)
      return Holder(name: claims.sub, scope: claims.scope ?? "")
    } catch {
      throw GRPCStatus(code: .unauthenticated, message: error.rawValue)
    }
  }
}

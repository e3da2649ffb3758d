import Foundation
import Switchboard

/// A JSON Web Token, signed with `RS256`.
struct WebToken {
  struct Header: Codable, Equatable {
    var alg = "RS256"
    var typ = "JWT"
    var kid: String
  }

  struct Claims: Codable, Equatable {
    /// The issuer and the subject.
    var iss: String
    var sub: String
    /// The scope; absent if the token only identifies the caller.
    var scope: String?
    /// The times of issue and expiry, in seconds since 1970.
    var iat: Int
    var exp: Int
  }

  /// Why a token is invalid.
  enum Invalid: String, Error {
    case malformed = "the token is malformed"
    case unknownKey = "the token is signed by an unknown key"
    case badSignature = "the signature of the token is invalid"
    case expired = "the token is not valid now"
  }

  static func sign(_ claims: Claims, with account: ServiceAccount) throws -> String {
    let encoder = JSONEncoder()
    let parts = try [encoder.encode(Header(kid: account.keyID)), encoder.encode(claims)]
    let signed = parts.map { encode(Array($0)) }.joined(separator: ".")
    return try signed + "." + encode(account.key.signature(of: Array(signed.utf8)))
  }

  static func claims(of token: String, for account: ServiceAccount, now: Int) throws(Invalid) -> Claims {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let header = decode(Header.self, parts[0]),
      let claims = decode(Claims.self, parts[1]), let signature = decode(parts[2])
    else { throw .malformed }
    guard header == Header(kid: account.keyID) else { throw .unknownKey }
    guard account.key.made(signature, of: Array("\(parts[0]).\(parts[1])".utf8)) else { throw .badSignature }
    guard claims.iss == account.email, claims.iat <= now, now < claims.exp else { throw .expired }
    return claims
  }

  private static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-")
      .replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  private static func decode(_ text: Substring) -> [UInt8]? {
    let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
    let padding = String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4)
    return Data(base64Encoded: plain + padding).map { Array($0) }
  }

  private static func decode<Value: Decodable>(_ type: Value.Type, _ text: Substring) -> Value? {
    decode(text).flatMap { try? JSONDecoder().decode(type, from: Data($0)) }
  }
}

// unsafe: OpenSSL: one owner a pointer, freed in `deinit`

import COpenSSL
import SwitchboardCall

/// An RSA key that signs with SHA-256, the algorithm `RS256` of JSON Web Tokens.
///
/// ```swift
/// let key = try SigningKey(.file("service-account.pem"))
/// let signature = try key.signature(of: Array(token.utf8))
/// ```
public final class SigningKey: @unchecked Sendable {
  // Sendable because OpenSSL allows several threads to use a key that does not change.
  private let key: OpaquePointer

  /// Reads a private key in PEM, without a password.
  public init(_ source: PEMSource) throws(GRPCStatus) {
    key = try PEM(source, "signing key").privateKey()
    // From here on, `deinit` frees the key.
    guard EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA else {
      throw GRPCStatus(code: .invalidArgument, message: "the signing key is not an RSA key")
    }
  }

  deinit { EVP_PKEY_free(key) }

  /// Signs bytes.
  public func signature(of bytes: [UInt8]) throws(GRPCStatus) -> [UInt8] {
    guard let context = EVP_MD_CTX_new() else { throw .tls("cannot sign", code: .internalError) }
    defer { EVP_MD_CTX_free(context) }
    var count = max(0, Int(EVP_PKEY_get_size(key)))
    var signature = [UInt8](repeating: 0, count: count)
    guard EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
      EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
    else { throw .tls("cannot sign", code: .internalError) }
    return Array(signature.prefix(count))
  }

  /// Whether `signature` is this key's signature of `bytes`.
  package func made(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
    guard let context = EVP_MD_CTX_new() else { return false }
    defer {
      EVP_MD_CTX_free(context)
      // A wrong signature leaves an error in OpenSSL's queue; later checks must not find it there.
      ERR_clear_error()
    }
    return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
      && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
  }
}

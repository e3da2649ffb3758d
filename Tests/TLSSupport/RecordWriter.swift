import COpenSSL
import SwitchboardCall

/// Writes records of TLS 1.3 (AES-256-GCM, SHA-384) that OpenSSL would not write, from the secret of one direction.
package struct RecordWriter {
  private let key: [UInt8]
  private let nonce: [UInt8]
  private var number: UInt64 = 0

  /// The record types of TLS.
  package static let handshake: UInt8 = 22
  package static let data: UInt8 = 23

  /// After an update of the key, from the secret before.
  init(updating secret: [UInt8]) {
    let next = Self.expand(secret, "traffic upd", 48)
    key = Self.expand(next, "key", 32)
    nonce = Self.expand(next, "iv", 12)
  }

  package mutating func record(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
    let plain = bytes + [type]
    let count = plain.count + 16
    let head: [UInt8] = [23, 3, 3, UInt8(count >> 8), UInt8(count & 255)]
    var nonce = nonce
    for index in 0..<8 { nonce[11 - index] ^= UInt8(truncatingIfNeeded: number >> (8 * UInt64(index))) }
    number += 1
    return head + encrypt(plain, nonce, head)
  }

  private func encrypt(_ plain: [UInt8], _ nonce: [UInt8], _ head: [UInt8]) -> [UInt8] {
    var sealed = [UInt8](repeating: 0, count: plain.count)
    var tag = [UInt8](repeating: 0, count: 16)
    var count: Int32 = 0
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), nil, key, nonce)
    EVP_EncryptUpdate(context, nil, &count, head, Int32(head.count))
    EVP_EncryptUpdate(context, &sealed, &count, plain, Int32(plain.count))
    EVP_EncryptFinal_ex(context, nil, &count)
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, 16, &tag)
    return sealed + tag
  }

  /// HKDF-Expand-Label of RFC 8446, for at most one block.
  private static func expand(_ secret: [UInt8], _ label: String, _ count: Int) -> [UInt8] {
    let name = Array("tls13 \(label)".utf8)
    let info: [UInt8] = [0, UInt8(count), UInt8(name.count)] + name + [0, 1]
    var block = [UInt8](repeating: 0, count: 48)
    HMAC(EVP_sha384(), secret, Int32(secret.count), info, info.count, &block, nil)
    return Array(block.prefix(count))
  }
}

/// The secrets that OpenSSL logs, by the address of the connection.
enum LoggedSecrets {
  private static let kept = Locked<[Int: [UInt8]]>([:])

  /// For `SSL_CTX_set_keylog_callback`. Keeps what a server's application data is encrypted with.
  static let log: SSL_CTX_keylog_cb_func = { ssl, line in
    guard let ssl, let line else { return }
    let words = String(cString: line).split(separator: " ")
    guard words.count == 3, words[0] == "SERVER_TRAFFIC_SECRET_0" else { return }
    let digits = Array(words[2].utf8)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
    kept.withLock { $0[Int(bitPattern: ssl)] = bytes }
  }

  static func take(_ ssl: OpaquePointer) -> [UInt8]? {
    kept.withLock { $0.removeValue(forKey: Int(bitPattern: ssl)) }
  }
}

/// A ClientHello of TLS 1.3 that makes the server respond with its certificate and signature.
enum ClientHello {
  static let bytes: [UInt8] = {
    let extensions =
      extend(0, sized(2, [0] + sized(2, Array("localhost".utf8))))  // server name
      + extend(10, sized(2, [0, 0x1d]))  // groups: X25519
      + extend(13, sized(2, [4, 3, 8, 4, 4, 1, 8, 7]))  // all common signature algorithms
      + extend(16, sized(2, sized(1, Array("h2".utf8))))  // ALPN
      + extend(43, sized(1, [3, 4]))  // versions: TLS 1.3
      // The public key: any number is valid.
      + extend(51, sized(2, [0, 0x1d] + sized(2, [9] + [UInt8](repeating: 0, count: 31))))
    let body =
      [3, 3] + [UInt8](repeating: 7, count: 32) + sized(1, [])
      + sized(2, [0x13, 1, 0x13, 2, 0x13, 3]) + sized(1, [0]) + sized(2, extensions)
    return [0x16, 3, 1] + sized(2, [1] + sized(3, body))
  }()

  private static func extend(_ type: UInt8, _ body: [UInt8]) -> [UInt8] { [0, type] + sized(2, body) }

  /// The bytes with their length before them, which takes `width` bytes.
  private static func sized(_ width: Int, _ bytes: [UInt8]) -> [UInt8] {
    (0..<width).map { UInt8(truncatingIfNeeded: bytes.count >> (8 * (width - 1 - $0))) } + bytes
  }
}

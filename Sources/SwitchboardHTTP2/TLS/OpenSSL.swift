import COpenSSL

/// The library as a whole.
enum OpenSSL {
  /// Prepares it, once. Whoever uses it first asks for that.
  ///
  /// It would clear itself away when the process exits, under the hands of loops that run until then.
  static func prepare() { _ = isPrepared }

  private static let isPrepared = switchboard_openssl_stays() == 1
}

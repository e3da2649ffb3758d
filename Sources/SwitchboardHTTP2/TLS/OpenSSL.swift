import COpenSSL

/// Global setup of OpenSSL.
enum OpenSSL {
  /// Prepares OpenSSL, once. Every first user must call this.
  ///
  /// By default OpenSSL cleans up at exit, while loops that still run are using it; this disables that.
  static func prepare() { _ = isPrepared }

  private static let isPrepared = switchboard_openssl_stays() == 1
}

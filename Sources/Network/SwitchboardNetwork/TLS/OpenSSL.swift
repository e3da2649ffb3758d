// unsafe: OpenSSL: one owner a pointer, freed in `deinit`

import COpenSSL
import CTLSMemory

/// Global setup of OpenSSL.
package enum OpenSSL {
  /// Prepares OpenSSL, once. Every first user must call this.
  ///
  /// By default OpenSSL cleans up at exit, while loops that still run are using it; this disables that.
  package static func prepare() { _ = isPrepared }

  private static let isPrepared = switchboard_openssl_stays() == 1

  /// Its version, such as `OpenSSL 3.0.15 3 Sep 2024`.
  package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }

  /// Whether OpenSSL uses our allocator, which can lend it memory: only if the application has asked for it.
  static var borrowsMemory: Bool {
    switchboard_openssl_has_memory(switchboard_tls_malloc, switchboard_tls_realloc, switchboard_tls_free) == 1
  }
}

/// OpenSSL's object for one connection: 7,608 bytes in version 3.0, most of which are zero. It is in the arena, if there is
/// one.
extension Arena? {
  /// `nil` if there is no memory.
  func makeConnection(_ context: OpaquePointer) -> OpaquePointer? {
    guard let arena = self else { return SSL_new(context) }
    let block = arena.takeAll()
    let ssl = arena.lending(block, isNew: true) { SSL_new(context) }
    guard let ssl, UnsafeMutableRawPointer(ssl) != block.baseAddress else { return ssl }
    // It did not fit, or OpenSSL has used the memory for something else, which it may release at any time.
    arena.lending(block, isNew: false) { SSL_free(ssl) }
    return SSL_new(context)
  }

  /// Call on any thread.
  func endConnection(_ ssl: OpaquePointer) {
    guard let arena = self else { return SSL_free(ssl) }
    arena.lending(arena.takeAll(), isNew: false) { SSL_free(ssl) }
  }
}

extension Arena {
  /// While `body` runs on this thread, OpenSSL does not release the memory, and if it `isNew`, takes it for the first
  /// block that it allocates.
  fileprivate func lending<Result>(
    _ block: UnsafeMutableRawBufferPointer,
    isNew: Bool,
    _ body: () -> Result
  ) -> Result {
    guard let base = block.baseAddress else { return body() }
    var loan = switchboard_loan(memory: base, room: block.count, isOffered: isNew)
    return withUnsafeMutablePointer(to: &loan) { loan in
      switchboard_loan_begin(loan)
      defer { switchboard_loan_end() }
      return body()
    }
  }
}

import COpenSSL
import CTLSMemory
import SwitchboardCall

/// What OpenSSL allocates with, for applications with many idle TLS connections.
///
/// OpenSSL has one allocator for the whole process, which is the application's to choose. So nothing is set unless the
/// application does it:
///
/// ```swift
/// try TLSMemory.setOpenSSLAllocator()
/// let server = try Server(providers: [ShopProvider()], options: ServerOptions())
/// ```
public enum TLSMemory {
  /// Sets the allocator of OpenSSL, in the whole process, to one that saves the memory of idle TLS connections: of 10,000
  /// on a server, each takes 15.6 KB instead of 20.5.
  ///
  /// Its functions are the system's, `malloc` and the others, except that the largest object of a connection of ours is in
  /// pages which are released while the connection is not in use.
  ///
  /// Call it at the start of the program, before anything uses OpenSSL: a server or a channel with TLS, or another library.
  /// If it is too late, or someone else has set the allocator, it throws `FAILED_PRECONDITION` and changes nothing. It may
  /// be called again.
  public static func setOpenSSLAllocator() throws(GRPCStatus) { guard isSet else { throw .allocatorIsTaken } }

  private static let isSet: Bool = {
    let isSet =
      switchboard_openssl_use_memory(switchboard_tls_malloc, switchboard_tls_realloc, switchboard_tls_free)
      == 1
    // It allocates at once, so that nobody can change the allocator any more.
    OpenSSL.prepare()
    return isSet
  }()
}

extension GRPCStatus {
  fileprivate static let allocatorIsTaken = GRPCStatus(
    code: .failedPrecondition,
    message:
      "TLSMemory: OpenSSL's allocator can no longer be set, because OpenSSL was used before, or is another "
      + "one's: call setOpenSSLAllocator() at the start of the program",
    origin: .library
  )
}

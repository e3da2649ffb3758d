import COpenSSL
import CertificateSupport
import Foundation
import Switchboard

/// Sets OpenSSL's allocator, of which a process has only one, at the start or when it is too late.
enum TLSMemoryScenario {
  static func run(_ when: String) throws {
    switch when {
    case "late": try useOpenSSL()
    case "taken": takeAllocator()
    default: break
    }
    try TLSMemory.setOpenSSLAllocator()
    try useOpenSSL()
    try TLSMemory.setOpenSSLAllocator()
    FaultSubject.say("set")
  }

  private static func useOpenSSL() throws {
    var options = ServerOptions()
    options.tls = ServerTLS(credentials: TestCertificates.server)
    _ = try Server(providers: [], options: options)
  }

  /// As an application does that has an allocator of its own.
  private static func takeAllocator() {
    let isTaken = switchboard_openssl_use_memory(
      { count, _, _ in malloc(count) },
      { block, count, _, _ in realloc(block, count) },
      { block, _, _ in free(block) }
    )
    FaultSubject.say("taken: \(isTaken)")
  }
}

import Foundation
import Switchboard

/// The certificate that the environment names: TLS_CERTIFICATE and TLS_KEY are files in PEM.
func certificate() throws -> ServerTLS? {
  let environment = ProcessInfo.processInfo.environment
  guard let chain = environment["TLS_CERTIFICATE"] else { return nil }
  guard let key = environment["TLS_KEY"] else {
    throw GRPCStatus(code: .failedPrecondition, message: "TLS_KEY is not set, the key of TLS_CERTIFICATE")
  }
  return ServerTLS(credentials: TLSCredentials(certificateChain: .file(chain), privateKey: .file(key)))
}

// text: a bootstrap is the program's own

import SwitchboardCall
import SwitchboardText
import SwitchboardTransport

/// The certificate providers of a bootstrap.
final class CertificateProviders: Sendable {
  private let configs: [String: CertificateProviderConfig]
  private let logger: Logger
  private let made = Locked<[ExactText: any CertificateProvider]>([:])

  init(_ configs: [String: CertificateProviderConfig], _ logger: Logger) {
    self.configs = configs
    self.logger = logger
  }

  /// The names that clusters may use.
  static func names(_ configs: [String: CertificateProviderConfig]) -> Set<ExactText> {
    Set(configs.filter { $0.value.isKnown }.map { ExactText($0.key) })
  }

  /// Makes all of them now, because reading their files may take long: on the loop of a channel, all of its calls would wait.
  func prepare() { for (name, config) in configs where config.isKnown { _ = try? provider(named: name) } }

  /// Throws if there is none of this name, or its files make no sense.
  func provider(named name: String) throws(GRPCStatus) -> any CertificateProvider {
    let result: Result<any CertificateProvider, GRPCStatus> = made.withLock { made in
      if let known = made[name] { return .success(known) }
      do throws(GRPCStatus) {
        let new = try make(name)
        made[name] = new
        return .success(new)
      } catch { return .failure(error) }
    }
    return try result.get()
  }

  private func make(_ name: String) throws(GRPCStatus) -> any CertificateProvider {
    switch configs.first(where: { $0.key.isExactly(name) })?.value {
    case .own(let own): return own.provider
    case .files(let files):
      return try FileCertificates(
        lateCertificateChain: files.certificateChain,
        privateKey: files.privateKey,
        trustRoots: files.trustRoots,
        interval: files.interval,
        logger: logger
      )
    case .unknown, nil:
      throw GRPCStatus(
        code: .unavailable,
        message: "the xDS bootstrap has no certificate provider \(name.excerpt)",
        origin: .library
      )
    }
  }
}

import SwitchboardCall
import SwitchboardNetwork

extension PeerCertificate.AlternativeName {
  /// The name, with its kind if that is not plain.
  var shown: String {
    switch self {
    case .dns(let name): name
    case .uri(let uri): uri
    case .email(let address): "email \(address)"
    case .ipAddress(let address): address
    }
  }
}

extension CertificateFacts {
  /// The names that it is issued for; the first ones of many. Without any, its subject.
  var identity: String {
    guard !names.isEmpty else { return subject }
    let first = names.prefix(Self.mostNames).map(\.shown).joined(separator: ", ")
    return names.count > Self.mostNames ? "\(first) and \(names.count - Self.mostNames) more" : first
  }

  private static let mostNames = 20
}

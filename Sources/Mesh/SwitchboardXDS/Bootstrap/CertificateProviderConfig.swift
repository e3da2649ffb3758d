import SwitchboardCall

/// Where certificates come from, as the bootstrap says it.
enum CertificateProviderConfig: Hashable, Sendable {
  /// The plugin `file_watcher`.
  struct Files: Hashable, Sendable {
    var certificateChain: String?
    var privateKey: String?
    var trustRoots: String?
    var interval = Duration.seconds(600)
  }

  /// A provider that the program has. Two are the same if they are one object.
  struct Own: Hashable, Sendable {
    let provider: any CertificateProvider

    static func == (left: Own, right: Own) -> Bool { left.provider === right.provider }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(provider)) }
  }

  case files(Files)
  case own(Own)
  /// A kind that no client of ours has.
  case unknown(plugin: String)

  var isKnown: Bool { if case .unknown = self { false } else { true } }
}

/// Logs what has no effect in the service configs that calls bring along, once for each config: a member that is misspelt,
/// or that is about a channel, is ignored, as gRPC requires.
final class ConfigRemarks: Sendable {
  /// A program that makes a config for each call must not fill the log.
  private static let mostConfigs = 16

  private let logger: Logger
  private let reported = Locked<[[String]]>([])

  init(_ logger: Logger) { self.logger = logger }

  /// `ofGivenChannel`: whether the call's client was given its channel, which the config does not change.
  func report(_ config: ServiceConfig, ofGivenChannel: Bool) {
    let remarks = config.remarks + (ofGivenChannel ? config.doubtsInCall : [])
    guard !remarks.isEmpty, isNew(remarks) else { return }
    for remark in remarks {
      logger.log(.warning, "a service config of CallOptions.serviceConfig: \(remark)", [:])
    }
  }

  private func isNew(_ remarks: [String]) -> Bool {
    reported.withLock { reported in
      guard reported.count < Self.mostConfigs, !reported.contains(remarks) else { return false }
      reported.append(remarks)
      return true
    }
  }
}

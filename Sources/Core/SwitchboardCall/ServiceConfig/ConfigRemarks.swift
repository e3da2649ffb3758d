/// Logs what has no effect in the options of calls, above all in the service configs that they bring along, once for each:
/// a member that is misspelt, or that is about a channel, is ignored, as gRPC requires.
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

  /// A provider that has no token leaves a call without any, also if its options have one. Logged once.
  func reportUnusedToken() {
    guard isNew(["CallOptions.oauth2AccessToken"]) else { return }
    logger.log(
      .warning,
      "CallOptions.oauth2AccessToken is not sent: authTokenProvider takes its place, and has no token for a call"
    )
  }

  private func isNew(_ remarks: [String]) -> Bool {
    reported.withLock { reported in
      guard reported.count < Self.mostConfigs, !reported.contains(remarks) else { return false }
      reported.append(remarks)
      return true
    }
  }
}

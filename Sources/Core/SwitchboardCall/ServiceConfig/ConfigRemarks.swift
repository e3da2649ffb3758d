import SwitchboardText

/// Logs what has no effect in the options of calls, above all in the service configs that they bring along, once for each:
/// a member that is misspelled, or that is about a channel, is ignored, as gRPC requires.
final class ConfigRemarks: Sendable {
  /// A program that makes a config for each call must not fill the log.
  private static let mostConfigs = 16

  let logger: Logger
  private static let mostMethods = 256
  private let reported = Locked<[[String]]>([])
  // text: paths of methods that the program calls
  /// The methods whose configs were searched for names that nearly are theirs.
  private let searched = Locked<Set<String>>([])

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

  /// Interceptors have changed options of a call that had been sent. Logged once for each method, interceptor and options.
  func report(late options: [String], of method: MethodDescriptor, by interceptor: String?) {
    let names = options.joined(separator: ", ")
    guard isNew([method.path, interceptor ?? "", names]) else { return }
    var details = ["method": method.path, "changed": names]
    details["interceptor"] = interceptor
    logger.log(
      .warning,
      "an interceptor changed what its call is sent with after it had passed the metadata on, without effect: change it before "
        + "context.send(.metadata(…), promise:)",
      details
    )
  }

  /// A call has failed so that its policy would make it again, and its requests were too large to be kept. Logged once for each
  /// method.
  func report(unrepeated method: MethodDescriptor, _ status: GRPCStatus, excess byteCount: Int, of limit: Int)
  {
    guard isNew(["retryBufferSize", method.path]) else { return }
    logger.log(
      .warning,
      "a call that its retryPolicy, or its hedgingPolicy, would make again is not: its requests take more than retryBufferSize",
      [
        "method": method.path, "error": "\(status)", "requests": "\(byteCount) bytes",
        "retryBufferSize": "\(limit) bytes",
      ]
    )
  }

  /// A call has failed so that its policy would make it again, and the server had sent metadata of a response before. Logged once
  /// for each method.
  func report(answered method: MethodDescriptor, _ status: GRPCStatus) {
    guard isNew(["answered", method.path]) else { return }
    logger.log(
      .warning,
      "a call that its retryPolicy, or its hedgingPolicy, would make again is not: the server had begun to answer, by sending "
        + "metadata before its status",
      ["method": method.path, "error": "\(status)"]
    )
  }

  /// A config of a call says nothing of its method, unlike the channel's, which it replaces. Logged once for each method.
  func report(unnamed method: MethodDescriptor) {
    guard isNew(["serviceConfig", method.path]) else { return }
    logger.log(
      .warning,
      "a service config of CallOptions.serviceConfig has other methods than that of the call, and replaces the channel's, which "
        + "has it: give the call no config, or one with its method; an empty one leaves the channel's out on purpose",
      ["method": method.path]
    )
  }

  /// A config has nothing for a method by its name, but something for a name that is nearly the same. Looked for at the first call
  /// of each method.
  func report(nearMissOf method: MethodDescriptor, in config: ServiceConfig) {
    let called = searched.withLock {
      $0.count < Self.mostMethods && $0.insert(method.path).inserted ? $0 : nil
    }
    guard let called, let name = config.nearMiss(of: method, besides: called) else { return }
    let parts = name.method.isEmpty ? [name.service] : [name.service, name.method]
    logger.log(
      .warning,
      "a service config has nothing for a method that is called, but something for a name like it: write the service, with its "
        + "package, and the method as in the .proto, each by itself",
      [
        "method": method.path, "named": parts.map(\.excerpt).joined(separator: " / "),
        "meant": "service \(method.service), method \(method.method)",
      ]
    )
  }

  /// A server has answered a call that its policy would make again with a pushback that is no number. Logged once for each
  /// method.
  func report(pushback value: String, of method: MethodDescriptor) {
    guard isNew(["pushback", method.path]) else { return }
    logger.log(
      .warning,
      "a server has sent grpc-retry-pushback-ms that is no number of milliseconds: the call is not made again",
      ["method": method.path, "value": value.excerpt]
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

import SwitchboardCall
import SwitchboardText

/// Logs the names in a program's metadata that are left out, because the protocol sets them itself: each once, and so
/// many that a program which passes on what it received cannot fill the memory or the log.
final class LeftOutFields: Sendable {
  private static let most = 64
  private static let pushback = "grpc-retry-pushback-ms"

  private let logger: Logger
  private let reported = Locked<Set<[UInt8]>>([])

  init(_ logger: Logger) { self.logger = logger }

  /// Called only for metadata of which something was left out.
  func report(_ metadata: HPACKHeaders, of method: MethodDescriptor, inTrailers: Bool = false) {
    guard logger.logs(.warning) else { return }
    for name in metadata.mistakenNames(inTrailers: inTrailers) where isNew(name) {
      var details = ["name": name.excerpt(100), "method": method.path]
      details["hint"] = Self.hint(name)
      let reason =
        name.isExactly(Self.pushback) ? "it counts in trailers only" : "the protocol itself sets it"
      logger.log(.warning, "metadata was left out, because \(reason)", details)
    }
  }

  private func isNew(_ name: String) -> Bool {
    reported.withLock { $0.count < Self.most && $0.insert(Array(name.utf8.prefix(256))).inserted }
  }

  /// The options that set what the name stands for.
  private static func hint(_ name: String) -> String? {
    switch name {
    case "grpc-timeout": "set CallOptions.timeout"
    case "grpc-encoding", "grpc-accept-encoding":
      "set CallOptions.compression, or call ServerCallContext.setCompression"
    case "grpc-status", "grpc-message", "grpc-status-details-bin": "let the handler throw a GRPCStatus"
    case ":authority", "host": "set CallOptions.serverAuthority"
    case "user-agent": "set ChannelOptions.userAgentPrefix"
    case "content-type": "set CallOptions.payloadFormat"
    case pushback: "let the handler call setTrailers, and throw a GRPCStatus"
    default: nil
    }
  }
}

import SwitchboardText

/// Something in a service config that makes it invalid, or that has no effect. The text of errors and of the log is made from
/// it; the status of an invalid config has it as its cause.
package struct ConfigFinding: Error, Hashable {
  /// How many of a config are logged.
  package static let mostReported = 8

  /// Where it is, such as `methodConfig[0].retryPolcy`. Empty for the whole config.
  package var path: String
  /// The name that is not known; empty if the finding is about something else.
  package var name: String
  package var reason: String
  /// Names that would be known there.
  package var candidates: [String]
  /// Whether correct configs may have this too: a policy that only other clients know.
  package var isCommon: Bool
  /// Where in the text it is, if it was found there.
  package var position: TextPosition?

  package init(
    path: String,
    name: String = "",
    reason: String,
    candidates: [String] = [],
    isCommon: Bool = false,
    position: TextPosition? = nil
  ) {
    self.path = path
    self.name = name
    self.reason = reason
    self.candidates = candidates
    self.isCommon = isCommon
    self.position = position
  }

  /// A finding about what is legal, and may be meant.
  package static func hint(_ path: String, _ reason: String) -> ConfigFinding {
    ConfigFinding(path: path, reason: reason, isCommon: true)
  }

  /// The name that is probably meant.
  private var near: String? { NearNames(of: name, in: candidates).best }

  /// Whether the config has to be corrected.
  package var isMistake: Bool { !isCommon || near != nil }
}

extension ConfigFinding: CustomStringConvertible {
  package var description: String {
    (path.isEmpty ? reason : "\(path): \(reason)") + (near.map { " (did you mean \($0)?)" } ?? "")
  }
}

extension GRPCStatus {
  /// An `INVALID_ARGUMENT` because of a mistake in a service config.
  package static func invalidServiceConfig(_ mistake: ConfigFinding) -> GRPCStatus {
    let place = mistake.position.map { " (line \($0.line), column \($0.column))" } ?? ""
    return GRPCStatus(code: .invalidArgument, message: "service config: \(mistake)\(place)", cause: mistake)
  }

  /// The same, for the member at a path.
  package static func invalidServiceConfig(_ path: String, _ reason: String) -> GRPCStatus {
    .invalidServiceConfig(ConfigFinding(path: path, reason: reason))
  }

  /// The mistake because of which a service config is invalid.
  package var configMistake: ConfigFinding? { cause as? ConfigFinding }
}

import Switchboard
import SwitchboardBalancing
import SwitchboardText

/// A finding in a service config, as the command shows it.
struct ConfigRemark {
  private let finding: ConfigFinding

  /// All that is wrong with a config, or has no effect. If `methods` are given, by the names of their services, it may be
  /// for these only.
  static func all(in json: String, for methods: [String: [String]]? = nil) -> [ConfigRemark] {
    ServiceConfig.check(json: json, methods: methods).map(ConfigRemark.init)
  }

  /// Whether the config has to be corrected.
  var isMistake: Bool { finding.isMistake }

  var shown: String { "\(finding)" }

  /// The remark about a file, with the line that it is about.
  func line(in file: ShownText, _ bytes: [UInt8]) -> ShownText {
    guard let position = finding.position else { return "\(file): \(shown)" }
    return "\(file):\(position.line):\(position.column): \(shown)\n\(MarkedLine(position, in: bytes).text)"
  }
}

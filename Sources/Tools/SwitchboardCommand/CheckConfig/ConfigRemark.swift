import Switchboard
import SwitchboardBalancing
import SwitchboardText

/// A finding in a service config, as the command shows it.
struct ConfigRemark {
  private let finding: ConfigFinding

  /// All that is wrong with a config, or has no effect. It may be for the methods of a schema only.
  static func all(in json: String, for schema: Schema? = nil) -> [ConfigRemark] {
    let methods = schema.map { schema in
      Dictionary(schema.services.map { ($0.fullName, $0.methods.map(\.name)) }) { first, _ in first }
    }
    return ServiceConfig.check(json: json, methods: methods).map(ConfigRemark.init)
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

import Switchboard
import SwitchboardBalancing

/// A finding in a service config, with the name that is probably meant.
struct ConfigRemark {
  private let finding: ConfigFinding
  private let near: String?

  /// All that is wrong with a config, or has no effect. It may be for the methods of a schema only.
  static func all(in json: String, for schema: Schema? = nil) -> [ConfigRemark] {
    let methods = schema.map { schema in
      Dictionary(schema.services.map { ($0.fullName, $0.methods.map(\.name)) }) { first, _ in first }
    }
    return ServiceConfig.check(json: json, methods: methods).map(Self.init)
  }

  private init(_ finding: ConfigFinding) {
    self.finding = finding
    let others = finding.candidates.filter { !$0.utf8.elementsEqual(finding.name.utf8) }
    near = NearNames(of: finding.name, in: others).best
  }

  /// Whether the config has to be corrected.
  var isMistake: Bool { !finding.isCommon || near != nil }

  var shown: String { "\(finding)" + (near.map { " (did you mean \($0)?)" } ?? "") }

  /// The remark about a file, with the line that it is about.
  func line(in file: ShownText, _ bytes: [UInt8]) -> ShownText {
    guard let position = finding.position else { return "\(file): \(shown)" }
    return "\(file):\(position.line):\(position.column): \(shown)\n\(MarkedLine(position, in: bytes).text)"
  }
}

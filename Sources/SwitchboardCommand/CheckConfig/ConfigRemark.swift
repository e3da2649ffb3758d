import Switchboard
import SwitchboardBalancing

/// A finding in a service config, with the name that is probably meant.
struct ConfigRemark {
  private let finding: ConfigFinding
  private let near: String?

  /// All that is wrong with a config, or has no effect.
  static func all(in json: String) -> [ConfigRemark] { ServiceConfig.check(json: json).map(Self.init) }

  private init(_ finding: ConfigFinding) {
    self.finding = finding
    let others = finding.candidates.filter { !$0.utf8.elementsEqual(finding.name.utf8) }
    near = NearNames(of: finding.name, in: others).best
  }

  /// Whether the config has to be corrected.
  var isMistake: Bool { !finding.isCommon || near != nil }

  var shown: String { "\(finding)" + (near.map { " (did you mean \($0)?)" } ?? "") }

  /// The remark about a file. A mistake in its syntax has no path, so its line is shown.
  func line(in file: ShownText, _ bytes: [UInt8]) -> ShownText {
    guard let position = finding.position else { return "\(file): \(shown)" }
    return "\(file):\(position.line):\(position.column): \(shown)\n\(MarkedLine(position, in: bytes).text)"
  }
}

import SwitchboardCall
import SwitchboardText

/// Where the members and the elements of a config are in its text.
struct ConfigPlaces {
  /// Of the bytes, by path.
  let offsets: [String: Int]
  let text: [UInt8]

  /// Where something begins; of what is missing, the object that lacks it. `nil` for the whole config.
  func offset(of path: String) -> Int? {
    var path = Optional(path)
    while let known = path, offsets[known] == nil { path = ConfigPath.parent(of: known) }
    return path.flatMap { offsets[$0] }
  }

  /// A finding with its position.
  func located(_ finding: ConfigFinding) -> ConfigFinding {
    var finding = finding
    finding.position = offset(of: finding.path).map { TextPosition(of: $0, in: text) }
    return finding
  }
}

extension GRPCStatus {
  /// The same, with the position in the JSON of the mistake that it is about.
  func located(in json: String) -> GRPCStatus {
    guard let mistake = configMistake, mistake.position == nil,
      let places = try? ConfigValue.parseWithPlaces(json, around: mistake.path).places
    else { return self }
    return .invalidServiceConfig(places.located(mistake))
  }
}

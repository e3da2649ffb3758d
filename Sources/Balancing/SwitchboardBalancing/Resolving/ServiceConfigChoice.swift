import SwitchboardCall
import SwitchboardText

/// The service configs in the DNS records of a name, each for certain clients (gRFC A2).
package enum ServiceConfigChoice {
  private static let prefix = "grpc_config="

  /// The first config that applies to this client; `nil` if none does. `roll`, from 0 to 100, decides about configs
  /// that apply to a percentage of clients. Throws `INVALID_ARGUMENT` if the text or the config is invalid.
  package static func choose(
    _ texts: [String],
    hostname: String,
    roll: Double
  ) throws(GRPCStatus) -> ServiceConfig? {
    guard let text = texts.first(where: { $0.begins(with: prefix) }) else { return nil }
    let choices = try ConfigValue(json: String(Substring(text.utf8.dropFirst(prefix.utf8.count))))
    for choice in try ConfigReader(["choices": choices], at: "").objects("choices") ?? [] {
      if let languages = try choice.strings("clientLanguage"),
        !languages.contains(where: { $0.lowercased() == "swift" })
      {
        continue
      }
      if let share = try choice.number("percentage"), roll >= share { continue }
      if let hosts = try choice.strings("clientHostname"), !hosts.contains(hostname) { continue }
      let config = try choice.required("serviceConfig", try choice.object("serviceConfig"))
      return try ServiceConfig(config)
    }
    return nil
  }
}

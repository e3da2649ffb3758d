import SwitchboardCall

extension ServiceConfig {
  /// Reads a config to find all that is wrong with it, not only what comes first: each part alone, and then the whole.
  package static func check(json: String) -> [ConfigFinding] {
    let value: ConfigValue
    do throws(ConfigSyntaxError) {
      value = try ConfigValue.parse(json, boundsText: true)
    } catch {
      return [ConfigFinding(path: "", reason: "invalid JSON: \(error.reason)", position: error.position)]
    }
    guard case .object(let members) = value else {
      return [ConfigFinding(path: "", reason: "it is not an object")]
    }
    var check = ConfigCheck(members)
    check.checkParts()
    return check.findings
  }
}

/// The findings of one config.
private struct ConfigCheck {
  private let members: [String: ConfigValue]
  private(set) var findings: [ConfigFinding] = []

  init(_ members: [String: ConfigValue]) { self.members = members }

  mutating func checkParts() {
    checkMethods()
    for name in members.keys.sorted() where name != "methodConfig" {
      check([name: members[name] ?? .null]) { reader throws(GRPCStatus) in
        _ = try ServiceConfig(followed: reader)
      }
    }
    guard findings.allSatisfy(\.isRemark) else { return }
    // Parts that are valid may contradict each other.
    check(members, reportsUnknown: false) { reader throws(GRPCStatus) in
      let config = try ServiceConfig(reader)
      guard !config.loadBalancing.isEmpty else { return }
      _ = try PolicyRegistry().choose(config.loadBalancing, at: "loadBalancingConfig")
    }
    checkPolicies()
  }

  private mutating func checkMethods() {
    guard case .array(let configs)? = members["methodConfig"] else {
      guard let other = members["methodConfig"] else { return }
      return check(["methodConfig": other]) { reader throws(GRPCStatus) in
        _ = try ServiceConfig(followed: reader)
      }
    }
    for (position, config) in configs.enumerated() {
      let location = "methodConfig[\(position)]"
      guard case .object(let members) = config else {
        findings.append(ConfigFinding(path: location, reason: "is not an object"))
        continue
      }
      check(members, at: location) { reader throws(GRPCStatus) in _ = try MethodConfig(reader) }
      if case .array(let names)? = members["name"], !names.isEmpty { continue }
      findings.append(
        ConfigFinding(path: "\(location).name", name: "name", reason: "is missing, so this is for no method")
      )
    }
  }

  private mutating func checkPolicies() {
    guard let config = try? ServiceConfig(ConfigReader(members, at: "")), !config.loadBalancing.isEmpty,
      let choice = try? PolicyRegistry().choose(config.loadBalancing, at: "loadBalancingConfig")
    else { return }
    findings += choice.findings
  }

  /// Reads an object. If that fails, what it asked for says nothing about unknown members.
  private mutating func check(
    _ members: [String: ConfigValue],
    at location: String = "",
    reportsUnknown: Bool = true,
    _ read: (ConfigReader) throws(GRPCStatus) -> Void
  ) {
    let audit = ConfigAudit()
    do throws(GRPCStatus) {
      try read(ConfigReader(members, at: location, audit: audit))
      if reportsUnknown { findings += audit.findings }
    } catch {
      findings.append(ConfigFinding(error))
    }
  }
}

extension ConfigFinding {
  /// What made a config invalid.
  init(_ failure: GRPCStatus) {
    let message = failure.message ?? "\(failure.code)"
    let prefix = "service config: "
    self.init(
      path: "",
      reason: message.utf8.starts(with: prefix.utf8) ? String(message.dropFirst(prefix.count)) : message
    )
  }

  /// Whether the config is valid nevertheless.
  fileprivate var isRemark: Bool { !name.isEmpty }
}

import SwitchboardCall
import SwitchboardText

extension ServiceConfig {
  /// Reads a config to find all that is wrong with it, not only what comes first. `methods` are the names of all methods
  /// by those of their services, if they are known; a config for others is wrong then.
  package static func check(json: String, methods: [String: [String]]? = nil) -> [ConfigFinding] {
    do throws(ConfigSyntaxError) {
      let (value, places) = try ConfigValue.parseWithPlaces(json)
      guard case .object(let members) = value else {
        return [ConfigFinding(path: "", reason: "it is not an object")]
      }
      var check = ConfigCheck(members, methods)
      check.checkParts()
      return located(check.findings, places, Array(json.utf8))
    } catch {
      return [ConfigFinding(path: "", reason: "invalid JSON: \(error.reason)", position: error.position)]
    }
  }

  /// The findings with their positions, in the order of the text. Missing members are where the object begins.
  private static func located(
    _ findings: [ConfigFinding],
    _ places: [String: Int],
    _ text: [UInt8]
  ) -> [ConfigFinding] {
    func place(_ finding: ConfigFinding) -> Int? {
      var path = Optional(finding.path)
      while let known = path, places[known] == nil { path = ConfigPath.parent(of: known) }
      return path.flatMap { places[$0] }
    }
    return findings.map { (finding: $0, place: place($0)) }
      .sorted { ($0.place ?? .max) < ($1.place ?? .max) }
      .prefix(ConfigFinding.mostFound)
      .map { finding, place in
        var finding = finding
        finding.position = place.map { TextPosition(of: $0, in: text) }
        return finding
      }
  }
}

/// The findings of one config.
private struct ConfigCheck {
  private let members: [String: ConfigValue]
  private let methods: [String: [String]]?
  private(set) var findings: [ConfigFinding] = []

  init(_ members: [String: ConfigValue], _ methods: [String: [String]]?) {
    self.members = members
    self.methods = methods
  }

  mutating func checkParts() {
    checkMethods()
    for name in members.keys.sorted() where name != "methodConfig" {
      check([name: members[name] ?? .null]) { reader throws(GRPCStatus) in
        let config = try ServiceConfig(followed: reader)
        guard !config.loadBalancing.isEmpty else { return }
        var policies = PolicyRegistry()
        policies.audit = reader.audit
        _ = try policies.choose(config.loadBalancing, at: "loadBalancingConfig")
      }
    }
    guard findings.allSatisfy(\.isRemark) else { return }
    // Parts that are valid may contradict each other.
    do throws(GRPCStatus) {
      _ = try ServiceConfig(ConfigReader(members, at: ""))
    } catch {
      findings.append(ConfigFinding(error))
    }
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
      var names: [MethodConfig.Name] = []
      check(members, at: location) { reader throws(GRPCStatus) in
        names = try reader.making(MethodConfig.init).names
      }
      if let methods { checkNames(names, methods, at: location) }
      if case .array(let names)? = members["name"], !names.isEmpty { continue }
      findings.append(
        ConfigFinding(path: "\(location).name", name: "name", reason: "is missing, so this is for no method")
      )
    }
  }

  /// Whether names are those of methods that are known.
  private mutating func checkNames(
    _ names: [MethodConfig.Name],
    _ methods: [String: [String]],
    at location: String
  ) {
    for (position, name) in names.enumerated() where !name.service.isEmpty {
      let path = "\(location).name[\(position)]"
      guard let known = methods[name.service] else {
        findings.append(
          .unknown(
            name.service,
            at: path + ".service",
            "the files have no such service",
            methods.keys.sorted()
          )
        )
        continue
      }
      guard !name.method.isEmpty, !known.contains(name.method) else { continue }
      findings.append(
        .unknown(name.method, at: path + ".method", "\(name.service) has no such method", known)
      )
    }
  }

  /// Reads an object until it has no more mistakes than those that were found in it. If it cannot be read to its end, what
  /// was asked of it says nothing about unknown members.
  private mutating func check(
    _ members: [String: ConfigValue],
    at location: String = "",
    _ read: (ConfigReader) throws(GRPCStatus) -> Void
  ) {
    var mistaken: Set<String> = []
    while mistaken.count <= ConfigFinding.mostFound {
      let audit = ConfigAudit(mistaken: mistaken)
      do throws(GRPCStatus) {
        try read(ConfigReader(members, at: location, audit: audit))
        findings += audit.findings
        return
      } catch {
        let finding = ConfigFinding(error)
        // What was passed over already cannot be once more.
        guard !mistaken.contains(finding.path) else { return }
        findings.append(finding)
        guard !finding.path.isEmpty else { return }
        mistaken.insert(finding.path)
      }
    }
  }
}

extension ConfigFinding {
  /// More of a config than this are not worth their time.
  package static let mostFound = 100

  /// What made a config invalid. Errors of readers begin with a path.
  init(_ failure: GRPCStatus) {
    let message = failure.message ?? "\(failure.code)"
    let prefix = "service config: "
    let text = message.utf8.starts(with: prefix.utf8) ? String(message.dropFirst(prefix.count)) : message
    let parts = text.parts(separatedBy: ":", maxSplits: 1)
    guard parts.count == 2, parts[1].begins(with: " ") else {
      self.init(path: "", reason: text)
      return
    }
    let first = parts[0].utf8.prefix { $0 != UInt8(ascii: " ") }
    // Only names below the outermost ones are a user's own, and may have spaces.
    let hasPath = first.count == parts[0].utf8.count || first.contains(UInt8(ascii: "."))
    self.init(
      path: hasPath ? String(parts[0]) : "",
      reason: hasPath ? String(Substring(parts[1].utf8.dropFirst())) : text
    )
  }

  fileprivate static func unknown(
    _ name: String,
    at path: String,
    _ reason: String,
    _ candidates: [String]
  ) -> ConfigFinding {
    ConfigFinding(
      path: path,
      name: name,
      reason: "\(reason): '\(name.excerpt)'",
      candidates: candidates
    )
  }

  /// Whether the config is valid nevertheless.
  fileprivate var isRemark: Bool { !name.isEmpty }
}

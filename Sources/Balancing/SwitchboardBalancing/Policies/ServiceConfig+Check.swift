import SwitchboardCall
import SwitchboardText

extension ServiceConfig {
  /// Reads a config to find all that is wrong with it, not only what comes first, in one pass. `methods` are the names of all
  /// methods by those of their services, if they are known; a config for others is wrong then. `policies` are those that the
  /// config may name.
  package static func check(
    json: String,
    methods: [String: [String]]? = nil,
    policies: PolicyRegistry = PolicyRegistry()
  ) -> [ConfigFinding] {
    do throws(ConfigFinding) {
      let (value, places) = try ConfigValue.parseWithPlaces(json)
      guard case .object(let members) = value else {
        return [
          ConfigFinding(path: "", reason: "it is not an object" + (isOfDNS(value) ? ": \(formOfDNS)" : ""))
        ]
      }
      if members["serviceConfig"] != nil { return [ConfigFinding(path: "", reason: formOfDNS)] }
      if members["xds_servers"] != nil { return [ConfigFinding(path: "", reason: bootstrap)] }
      var check = ConfigCheck(members, methods.map(KnownMethods.init), policies)
      check.checkParts()
      return located(check.findings, places)
    } catch { return [error] }
  }

  private static let formOfDNS =
    "the form with serviceConfig is for DNS records only (gRFC A2); a channel takes what is in its serviceConfig"

  private static let bootstrap =
    "it is a bootstrap of xds: targets, which GRPC_XDS_BOOTSTRAP names, and no service config: xds_servers says where control planes are"

  /// Whether it is a list of configs, each for certain clients.
  private static func isOfDNS(_ value: ConfigValue) -> Bool {
    guard case .array(let choices) = value, case .object(let first)? = choices.first else { return false }
    return first["serviceConfig"] != nil
  }

  /// The findings with their positions, in the order of the text.
  private static func located(_ findings: [ConfigFinding], _ places: ConfigPlaces) -> [ConfigFinding] {
    // Each position is found from the one before it: each from the beginning would read the text as often.
    var position = TextPosition.start
    return findings.map { (finding: $0, offset: places.offset(of: $0.path)) }
      .sorted { ($0.offset ?? .max) < ($1.offset ?? .max) }
      .prefix(ConfigFinding.mostFound)
      .map { finding, offset in
        guard let offset else { return finding }
        position = position.moved(to: offset, in: places.text)
        var located = finding
        located.position = position
        return located
      }
  }
}

/// The methods that a config may name.
private struct KnownMethods {
  private let byService: [String: (names: [String], all: Set<String>)]
  /// Sorted.
  let services: [String]

  init(_ methods: [String: [String]]) {
    byService = methods.mapValues { ($0, Set($0)) }
    services = methods.keys.sorted()
  }

  func has(_ service: String) -> Bool { byService[service] != nil }

  func has(_ method: String, of service: String) -> Bool {
    byService[service]?.all.contains(method) ?? false
  }

  func names(of service: String) -> [String] { byService[service]?.names ?? [] }
}

/// The findings of one config.
private struct ConfigCheck {
  private let members: [String: ConfigValue]
  private let methods: KnownMethods?
  private let policies: PolicyRegistry
  private var methodConfigs: [MethodConfig] = []
  private(set) var findings: [ConfigFinding] = []
  private var isValid = true

  init(_ members: [String: ConfigValue], _ methods: KnownMethods?, _ policies: PolicyRegistry) {
    self.members = members
    self.methods = methods
    self.policies = policies
  }

  mutating func checkParts() {
    checkMethods()
    for name in members.keys.sorted() where name != "methodConfig" {
      check([name: members[name] ?? .null]) { [policies] reader throws(GRPCStatus) in
        let config = try ServiceConfig(followed: reader)
        var followed = policies
        followed.audit = reader.audit
        _ = try followed.choose(for: config)
      }
    }
    if let methods { checkHealth(methods) }
    if isValid { checkWhole() }
  }

  /// Whether the service whose health is asked for is known. A name without a dot that resembles none may be one that only
  /// probes use.
  private mutating func checkHealth(_ methods: KnownMethods) {
    guard case .object(let health)? = members["healthCheckConfig"],
      case .string(let name)? = health["serviceName"], !name.isEmpty, !methods.has(name)
    else { return }
    var finding = ConfigFinding.unknown(
      name,
      at: "healthCheckConfig.serviceName",
      "no such service is known",
      methods.services
    )
    finding.isCommon = !name.utf8.contains(UInt8(ascii: "."))
    if finding.isMistake { findings.append(finding) }
  }

  /// Parts that are valid may contradict each other, or need each other.
  private mutating func checkWhole() {
    let repeated = ServiceConfig.repeatedNames(in: methodConfigs)
    guard repeated.isEmpty else {
      findings += repeated
      return
    }
    do throws(GRPCStatus) {
      let reader = ConfigReader(members, at: "")
      let config = try ServiceConfig(reader)
      findings += try config.doubtsOfParts(in: reader, besides: findings)
      guard let health = config.doubtOfHealthCheck(with: try policies.choose(for: config)) else {
        return
      }
      findings.append(health)
    } catch { addMistake(ConfigFinding(error)) }
  }

  private mutating func addMistake(_ mistake: ConfigFinding) {
    isValid = false
    findings.append(mistake)
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
        addMistake(ConfigFinding(path: location, reason: "is not an object"))
        continue
      }
      var method = MethodConfig(names: [])
      check(members, at: location) { reader throws(GRPCStatus) in method = try MethodConfig(reader) }
      methodConfigs.append(method)
      if let methods { checkNames(method.names, methods, at: location) }
    }
  }

  /// Whether names are those of methods that are known.
  private mutating func checkNames(
    _ names: [MethodConfig.Name],
    _ methods: KnownMethods,
    at location: String
  ) {
    for (position, name) in names.enumerated() where !name.service.isEmpty {
      let path = "\(location).name[\(position)]"
      guard methods.has(name.service) else {
        findings.append(
          .unknown(name.service, at: path + ".service", "no such service is known", methods.services)
        )
        continue
      }
      guard !name.method.isEmpty, !methods.has(name.method, of: name.service) else { continue }
      let reason = "\(name.service) has no such method"
      findings.append(
        .unknown(name.method, at: path + ".method", reason, methods.names(of: name.service))
      )
    }
  }

  /// Reads an object with all its mistakes. If it cannot be read to its end, what was asked of it says nothing about unknown
  /// members.
  private mutating func check(
    _ members: [String: ConfigValue],
    at location: String = "",
    _ read: (ConfigReader) throws(GRPCStatus) -> Void
  ) {
    let audit = ConfigAudit(collectsMistakes: true)
    do throws(GRPCStatus) {
      try read(ConfigReader(members, at: location, audit: audit))
      findings += audit.findings
    } catch { addMistake(ConfigFinding(error)) }
    for mistake in audit.mistakes { addMistake(mistake) }
  }
}

extension ServiceConfig {
  /// That no health is checked, although a service is named, because the policy does not ask for it. A client whose own
  /// config names another policy uses that if this one names none.
  func doubtOfHealthCheck(with policy: PolicyChoice?) -> ConfigFinding? {
    guard healthCheckedService != nil, policy?.name ?? PickFirst().name == PickFirst().name else {
      return nil
    }
    return ConfigFinding(
      path: "healthCheckConfig",
      reason: "has no effect with the policy pick_first; policies such as round_robin check health",
      isCommon: policy == nil
    )
  }
}

extension ConfigFinding {
  /// More of a config than this are not worth their time.
  package static let mostFound = 100

  /// What made a config invalid. A user's policy may throw any status.
  fileprivate init(_ failure: GRPCStatus) {
    self = failure.configMistake ?? ConfigFinding(path: "", reason: failure.message ?? "\(failure.code)")
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
}

public import SwitchboardCall

/// Reads the members of one object of a service config. Errors contain the object's path.
public struct ConfigReader: Sendable {
  private let members: [String: ConfigValue]
  private let location: String
  let audit: ConfigAudit?
  /// The number of the object in the audit.
  private let number: Int

  /// Creates a reader. `location` is the path of the object, such as `methodConfig[0].retryPolicy`; empty for the whole
  /// config.
  public init(_ members: [String: ConfigValue], at location: String) {
    self.init(members, at: location, audit: nil)
  }

  /// The same. `audit` follows what is read.
  package init(_ members: [String: ConfigValue], at location: String, audit: ConfigAudit?) {
    self.members = members
    self.location = location
    self.audit = audit
    number = audit?.add(members.keys, at: location) ?? 0
  }

  /// A reader of the same object that an audit follows.
  func followed(by audit: ConfigAudit) -> ConfigReader {
    ConfigReader(members, at: location, audit: audit)
  }

  /// An `INVALID_ARGUMENT` that names a member.
  public func failure(_ name: String, _ reason: String) -> GRPCStatus {
    .invalidServiceConfig(path(name), reason)
  }

  /// The path of a member in the whole config.
  package func path(_ name: String) -> String { ConfigPath.member(name, of: location) }

  /// Throws that a member is mistaken. Where mistakes are collected, it does not throw, and the member counts as missing.
  func refuse(_ name: String, _ reason: String) throws(GRPCStatus) {
    try refuse(ConfigFinding(path: path(name), reason: reason))
  }

  private func refuse(_ mistake: ConfigFinding) throws(GRPCStatus) {
    guard let audit else { throw .invalidServiceConfig(mistake) }
    try audit.refuse(mistake)
  }

  /// What a type makes of the values that `read` gets. The type's errors have paths below the object, and get those in the
  /// whole config. Where mistakes are collected, it is made again without what it refused: `read` reads one object.
  func making<Parts, Value>(
    _ read: () throws(GRPCStatus) -> Parts,
    _ make: (Parts) throws(GRPCStatus) -> Value
  ) throws(GRPCStatus) -> Value {
    while true {
      let parts = try read()
      do throws(GRPCStatus) {
        return try make(parts)
      } catch {
        guard let mistake = error.configMistake else { throw error }
        // What was left out already cannot be once more.
        guard !isMistaken(mistake.path) else { throw failure(mistake.path, mistake.reason) }
        try refuse(mistake.path, mistake.reason)
      }
    }
  }

  /// Members that are known, and not read.
  package func knows(_ names: String...) { for name in names { audit?.asked(name, of: number) } }

  /// The names of its members are the user's.
  package func takesAnything() { audit?.takesAnything(number) }

  /// Notes what is hardly meant, though it is valid. The paths are below the object.
  package func note(_ doubts: [ConfigFinding]) {
    for var doubt in doubts {
      doubt.path = path(doubt.path)
      audit?.doubted(doubt)
    }
  }

  /// Notes what is legal, and may be meant, for a check of the config: a channel that uses it does not log this.
  func hint(_ hints: @autoclosure () -> [ConfigFinding]) {
    if audit?.collectsMistakes == true { note(hints()) }
  }

  private func isMistaken(_ name: String) -> Bool { audit?.isMistaken(path(name)) ?? false }

  /// Whether there is a member, unless it is null.
  func has(_ name: String) -> Bool { members[name].map { $0 != .null } ?? false }

  /// Whether a member is known to be mistaken, or a part of it.
  func hasMistake(in name: String) -> Bool { audit?.hasMistake(in: path(name)) ?? false }

  /// The value of a member, unless it is missing or null.
  private func value(_ name: String) -> ConfigValue? {
    audit?.asked(name, of: number)
    let value = members[name]
    return value == .null || isMistaken(name) ? nil : value
  }

  /// What stands in for required values that are known to be mistaken: it is allowed wherever they are.
  private static let standIns: [any Sendable] = [2, 1.0, Duration.seconds(1)]

  /// The value of a required member.
  public func required<Value>(_ name: String, _ value: Value?) throws(GRPCStatus) -> Value {
    if let value { return value }
    guard let standIn = Self.standIns.lazy.compactMap({ $0 as? Value }).first else {
      throw failure(name, "is missing")
    }
    return try required(name, nil, or: standIn)
  }

  /// The same. Where mistakes are collected, another value stands in for one that is missing.
  func required<Value>(_ name: String, _ value: Value?, or standIn: Value) throws(GRPCStatus) -> Value {
    if let value { return value }
    if !hasMistake(in: name) { try refuse(name, "is missing") }
    return standIn
  }

  /// Text.
  public func string(_ name: String) throws(GRPCStatus) -> String? {
    switch value(name) {
    case nil: return nil
    case .string(let text): return text
    default:
      try refuse(name, "is not a string")
      return nil
    }
  }

  /// A Boolean.
  public func bool(_ name: String) throws(GRPCStatus) -> Bool? {
    switch value(name) {
    case nil: return nil
    case .bool(let value): return value
    default:
      try refuse(name, "is neither true nor false")
      return nil
    }
  }

  /// A number, which may also be a string in JSON.
  public func number(_ name: String) throws(GRPCStatus) -> Double? {
    let number: Double?
    switch value(name) {
    case nil: return nil
    case .number(let value): number = value
    case .string(let text): number = Double(text)
    default: number = nil
    }
    guard let number, number.isFinite else {
      try refuse(name, "is not a number")
      return nil
    }
    return number
  }

  /// A non-negative integer.
  public func count(_ name: String) throws(GRPCStatus) -> Int? {
    guard let number = try number(name) else { return nil }
    guard let count = Int(exactly: number), count >= 0 else {
      try refuse(name, "is not a whole number of 0 or more")
      return nil
    }
    return count
  }

  /// A non-negative duration, such as `"1.5s"`.
  public func duration(_ name: String) throws(GRPCStatus) -> Duration? {
    if case .number(let number)? = value(name) {
      let text = Int(exactly: number).map(String.init) ?? "\(number)"
      try refuse(name, "is a number: write \"\(text)s\", a duration in seconds")
      return nil
    }
    guard let text = try string(name) else { return nil }
    guard let duration = Self.duration(text) else {
      try refuse(name, "is not a duration such as \"1.5s\"")
      return nil
    }
    guard duration >= .zero else {
      try refuse(name, "is below zero")
      return nil
    }
    return duration
  }

  /// Up to 315,576,000,000 seconds, with up to nine decimals, as protobuf's durations.
  private static func duration(_ text: String) -> Duration? {
    guard text.utf8.last == UInt8(ascii: "s") else { return nil }
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let parts = text.dropFirst(isNegative ? 1 : 0).dropLast()
      .split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    let decimals = parts.count > 1 ? parts[1] : ""
    for part in parts where !part.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
      return nil
    }
    guard let seconds = Int64(parts[0]), seconds <= 315_576_000_000, decimals.utf8.count <= 9,
      parts.count == 1 || !decimals.isEmpty,
      let nanoseconds = Int64(decimals + String(repeating: "0", count: 9 - decimals.utf8.count))
    else { return nil }
    let duration = Duration.seconds(seconds) + .nanoseconds(nanoseconds)
    return isNegative ? .zero - duration : duration
  }

  /// An object.
  public func object(_ name: String) throws(GRPCStatus) -> ConfigReader? {
    switch value(name) {
    case nil: return nil
    case .object(let members): return ConfigReader(members, at: path(name), audit: audit)
    default:
      try refuse(name, "is not an object")
      return nil
    }
  }

  /// An array of objects.
  public func objects(_ name: String) throws(GRPCStatus) -> [ConfigReader]? {
    guard let values = try array(name) else { return nil }
    var readers: [ConfigReader] = []
    for (position, value) in values.enumerated() {
      let element = "\(name)[\(position)]"
      guard case .object(let members) = value else {
        try refuse(element, "is not an object")
        continue
      }
      readers.append(ConfigReader(members, at: path(element), audit: audit))
    }
    return readers
  }

  /// An object whose members are objects, sorted by their names.
  public func objectsByName(_ name: String) throws(GRPCStatus) -> [(name: String, ConfigReader)]? {
    guard let object = try object(name) else { return nil }
    audit?.takesAnything(object.number)
    var readers: [(name: String, ConfigReader)] = []
    for member in object.members.keys.sorted() {
      if let reader = try object.object(member) { readers.append((member, reader)) }
    }
    return readers
  }

  /// An array of strings.
  public func strings(_ name: String) throws(GRPCStatus) -> [String]? {
    try stringsByPosition(name)?.map(\.text)
  }

  /// The same, with the place of each in the array.
  func stringsByPosition(_ name: String) throws(GRPCStatus) -> [(position: Int, text: String)]? {
    guard let values = try array(name) else { return nil }
    var strings: [(position: Int, text: String)] = []
    for (position, value) in values.enumerated() {
      guard case .string(let text) = value else {
        try refuse("\(name)[\(position)]", "is not a string")
        continue
      }
      strings.append((position, text))
    }
    return strings
  }

  /// Policies in the order of preference: an array of objects with one member each, the policy's name.
  public func policies(_ name: String) throws(GRPCStatus) -> [LoadBalancingConfig]? {
    guard let objects = try objects(name) else { return nil }
    var policies: [LoadBalancingConfig] = []
    for object in objects {
      guard object.members.count == 1, let policy = object.members.keys.first else {
        try refuse(ConfigFinding(path: object.location, reason: "does not name exactly one policy"))
        continue
      }
      // Which policies are known, the registry decides.
      audit?.takesAnything(object.number)
      if let config = try object.policy(policy) { policies.append(config) }
    }
    return policies
  }

  /// The policy that a member names.
  private func policy(_ name: String) throws(GRPCStatus) -> LoadBalancingConfig? {
    var config: LoadBalancingConfig
    switch members[name] {
    case .object(let members): config = LoadBalancingConfig(name, members)
    case .null, nil: config = LoadBalancingConfig(name)
    default:
      try refuse(name, "is not an object")
      return nil
    }
    config.path = path(name)
    return config
  }

  /// Codes, by name (`"UNAVAILABLE"`, in any case) or by number.
  public func codes(_ name: String) throws(GRPCStatus) -> Set<GRPCStatus.Code> {
    var codes: Set<GRPCStatus.Code> = []
    let values = try array(name) ?? []
    for (position, value) in values.enumerated() {
      let code: GRPCStatus.Code?
      switch value {
      case .string(let text): code = GRPCStatus.Code(specName: text.uppercased())
      case .number(let number): code = Int(exactly: number).flatMap { GRPCStatus.Code(rawValue: $0) }
      default: code = nil
      }
      guard let code else {
        try refuse("\(name)[\(position)]", "is not a status code such as \"UNAVAILABLE\"")
        continue
      }
      codes.insert(code)
    }
    // All that there are may be known to be mistaken.
    return codes.isEmpty && (isMistaken(name) || !values.isEmpty) ? [.unavailable] : codes
  }

  private func array(_ name: String) throws(GRPCStatus) -> [ConfigValue]? {
    switch value(name) {
    case nil: return nil
    case .array(let values): return values
    default:
      try refuse(name, "is not an array")
      return nil
    }
  }
}

/// The options in the parameter of the request (``OptionList``), each `Key=Value`.
struct GeneratorOptions {
  var visibility = Visibility.internal
  /// Nil for the default, which is ``FileNaming/fullPath``.
  var fileNaming: FileNaming?

  var generatesMessages = true
  var generatesServices = true
  var generatesServers = true
  var generatesClients = true
  var generatesTestClients = false
  /// The module with the services' other types, if only clients for tests are generated.
  var testClientModule: String?
  var generatesReflectionData = false

  var keepsMethodCasing = false
  var namesRegistriesInFull = false
  var usesAccessLevelOnImports = false
  var extraModuleImports: [String] = []
  var moduleMappingsPath: String?
  var payloadMappingsPath: String?

  /// The options that are given, by their names.
  private var given: [String: String] = [:]

  /// The paths of mapping files in the options.
  var mappingPaths: [String] { [moduleMappingsPath, payloadMappingsPath].compactMap(\.self) }

  /// Parses the options in a parameter.
  init(parameter: String) throws(GeneratorError) {
    for option in OptionList.options(in: parameter) { try take(option) }
    for (option, part, reason) in GeneratorOptions.needs where asks(for: option) {
      guard let flag = GeneratorOptions.flags[part], !self[keyPath: flag] else { continue }
      throw GeneratorError(
        "option \(option) has no effect if \(part) is false: \(reason)",
        option: given[option]
      )
    }
    guard generatesMessages || generatesServices else {
      throw GeneratorError(
        "options Messages and Services are both false: nothing is left to generate",
        option: given["Messages"]
      )
    }
    if testClientModule != nil { try generateOnlyTestClients() }
  }

  /// Which options have no effect without which others.
  private static let needs =
    [
      "Client", "KeepMethodCasing", "PayloadMappings", "ReflectionData", "Server", "TestClient",
      "TestClientOf",
    ]
    .map { ($0, "Services", "it is about services") }
    + [
      ("FullRegistryNames", "Messages", "registries are generated with messages"),
      ("TestClient", "Client", "a test client needs the client's protocols"),
      ("TestClientOf", "Client", "a test client needs the client's protocols"),
    ]

  private mutating func generateOnlyTestClients() throws(GeneratorError) {
    if let other = ["TestClient", "Messages", "Client", "Server"].first(where: { asks(for: $0) }) {
      throw GeneratorError(
        "options \(other) and TestClientOf: a client for tests is generated with the others, or alone",
        option: given[other]
      )
    }
    if let other = ["ReflectionData", "FullRegistryNames"].first(where: { asks(for: $0) }) {
      throw GeneratorError(
        "option \(other) has no effect beside TestClientOf: nothing but a client for tests is generated",
        option: given[other]
      )
    }
    generatesTestClients = true
    generatesMessages = false
    generatesClients = false
    generatesServers = false
  }

  /// The options that are given although only services need them.
  var idleWithoutServices: [String] {
    ["KeepMethodCasing", "ReflectionData", "TestClient"].filter { asks(for: $0) }
  }

  /// Throws if an option is unknown or has a wrong value, whatever the others are.
  static func check(_ option: String) throws(GeneratorError) {
    var options = try GeneratorOptions(parameter: "")
    try options.take(option)
  }

  /// Throws if some options set one twice of which only the last value would count.
  static func checkRepetition(_ options: [String]) throws(GeneratorError) {
    var earlier: [String: String] = [:]
    for option in options {
      let key = (option.split(separator: "=", maxSplits: 1).first ?? "").trimmingSpaces()
      guard key != Setting.extraModuleImports.rawValue, let other = earlier.updateValue(option, forKey: key)
      else { continue }
      throw GeneratorError("option \(key) is given twice, as '\(other)' and '\(option)'", option: option)
    }
  }

  private mutating func take(_ option: String) throws(GeneratorError) {
    let pair = option.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    // A missing value is an error too; its message says which values the option accepts.
    let key = pair[0].trimmingSpaces()
    try set(key, to: pair.count == 2 ? pair[1].trimmingSpaces() : nil)
    given[key] = option
  }

  /// Whether an option is given, and not as false.
  private func asks(for key: String) -> Bool {
    given[key] != nil && GeneratorOptions.flags[key].map { self[keyPath: $0] } ?? true
  }

  private mutating func set(_ key: String, to given: String?) throws(GeneratorError) {
    let value = given ?? ""
    switch Setting(rawValue: key) {
    case .visibility: visibility = try GeneratorOptions.choice(value, for: key)
    case .fileNaming: fileNaming = try GeneratorOptions.choice(value, for: key)
    case .moduleMappings: moduleMappingsPath = try GeneratorOptions.text(value, for: key)
    case .payloadMappings: payloadMappingsPath = try GeneratorOptions.text(value, for: key)
    case .testClientModule: testClientModule = try GeneratorOptions.module(value, for: key)
    case .extraModuleImports: extraModuleImports.append(try GeneratorOptions.module(value, for: key))
    case nil:
      guard let flag = GeneratorOptions.flags[key] else {
        throw GeneratorOptions.unknown(key, hasValue: given != nil)
      }
      self[keyPath: flag] = try GeneratorOptions.boolean(value, for: key)
    }
  }

  /// The options that take something else than true or false.
  private enum Setting: String, CaseIterable {
    case extraModuleImports = "ExtraModuleImports"
    case fileNaming = "FileNaming"
    case payloadMappings = "PayloadMappings"
    case moduleMappings = "ProtoPathModuleMappings"
    case testClientModule = "TestClientOf"
    case visibility = "Visibility"
  }

  private static var flags: [String: WritableKeyPath<GeneratorOptions, Bool>] {
    [
      "Client": \.generatesClients,
      "FullRegistryNames": \.namesRegistriesInFull,
      "KeepMethodCasing": \.keepsMethodCasing,
      "Messages": \.generatesMessages,
      "ReflectionData": \.generatesReflectionData,
      "Server": \.generatesServers,
      "Services": \.generatesServices,
      "TestClient": \.generatesTestClients,
      "UseAccessLevelOnImports": \.usesAccessLevelOnImports,
    ]
  }

  /// The names of all options, sorted.
  static var names: [String] { (Setting.allCases.map(\.rawValue) + flags.keys).sorted() }

  /// What has no value may be the rest of the value before it.
  private static func unknown(_ key: String, hasValue: Bool) -> GeneratorError {
    let hint = hasValue ? "" : "a comma in a value is written '\\,'; "
    let known = names.joined(separator: ", ")
    let meant =
      key.hasPrefix("OpenAPI")
      ? " (a document of OpenAPI is made by 'switchboard openapi', or by protoc-gen-switchboard)"
      : near(key, in: names)
    return GeneratorError("unknown option '\(key)'\(meant): \(hint)the options are \(known)")
  }

  /// What is meant by a name in other capitals.
  private static func near(_ name: String, in known: [String]) -> String {
    known.first { $0.lowercased() == name.lowercased() }.map { " (did you mean \($0)?)" } ?? ""
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(
    _ value: String,
    for key: String
  ) throws(GeneratorError) -> Choice where Choice.RawValue == String {
    if let choice = Choice(rawValue: value) { return choice }
    let known = Choice.allCases.map(\.rawValue)
    throw GeneratorError(
      "option \(key) has the value '\(value)'\(near(value, in: known)): it must be one of "
        + known.joined(separator: ", ")
    )
  }

  private static func boolean(_ value: String, for key: String) throws(GeneratorError) -> Bool {
    switch value {
    case "true", "True", "TRUE", "1": return true
    case "false", "False", "FALSE", "0": return false
    default: throw GeneratorError("option \(key) has the value '\(value)': it must be true or false")
    }
  }

  private static func text(_ value: String, for key: String) throws(GeneratorError) -> String {
    guard !value.isEmpty else { throw GeneratorError("option \(key) has an empty value: it must be a path") }
    return value
  }

  private static func module(_ value: String, for key: String) throws(GeneratorError) -> String {
    guard value.isIdentifier, !["true", "false"].contains(value) else {
      throw GeneratorError("option \(key) has the value '\(value)': it must be the name of a module")
    }
    return value
  }
}

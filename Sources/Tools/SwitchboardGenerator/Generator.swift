/// Generates Swift source from `.proto` files.
///
/// It reads and writes no files: it takes a request as protoc sends it and returns the generated files. The same
/// request gives the same output, byte for byte.
public struct Generator: Sendable {
  private let request: GeneratorRequest
  private let options: GeneratorOptions
  private let schema: Schema
  private let payloads: PayloadMappings
  /// What was found in the rules of HTTP of the files to generate; `nil` if nothing is generated for services.
  private let rules: RuleCheck?

  /// A generator for a request.
  ///
  /// - Parameters:
  ///   - request: a `CodeGeneratorRequest` in binary: the files, and the user's options in `parameter`.
  ///   - mappings: the content of each file that an option names (`mappingPaths`), by its path in the option.
  /// - Throws: an error if the bytes are not a request, or if the options or the descriptors are invalid.
  public init(request: [UInt8], mappings: [String: String] = [:]) throws(GeneratorError) {
    try self.init(Generator.decode(request), mappings: mappings)
  }

  /// A generator for a request that was read. `hasFile` knows the `.proto` files that could have been imported, by which
  /// mappings of modules are checked; it is omitted if they cannot be known.
  package init(
    _ request: GeneratorRequest,
    mappings: [String: String],
    hasFile: ((String) -> Bool)? = nil
  ) throws(GeneratorError) {
    self.request = request
    options = try GeneratorOptions(parameter: request.parameter)
    for path in options.mappingPaths where mappings[path] == nil {
      throw GeneratorError("the mappings in '\(path)' were not read")
    }
    let modules = try Generator.moduleMappings(options, mappings)
    if let hasFile {
      let names = Set(request.files.map(\.name))
      try modules.check { names.contains($0) || hasFile($0) }
    }
    let path = options.payloadMappingsPath
    payloads =
      try path.flatMap { mappings[$0] }.map { text throws(GeneratorError) in
        try PayloadMappings(text: text, path: path)
      } ?? PayloadMappings()
    schema = try SchemaBuilder.build(
      request.files,
      mappings: modules,
      reserved: options.generatesTestClients && request.files.contains { !$0.service.isEmpty }
        ? [testingModule] : []
    )
    let wanted = request.filesToGenerate.compactMap { [schema] in schema.filesByName[$0] }
    rules = options.generatesServices ? RuleCheck(wanted, in: schema) : nil
    try payloads.check(
      against: schema.declaredNames,
      served: schema.servedNames(in: request.filesToGenerate)
    )
  }

  private static func moduleMappings(
    _ options: GeneratorOptions,
    _ mappings: [String: String]
  ) throws(GeneratorError) -> ModuleMappings {
    guard let path = options.moduleMappingsPath, let text = mappings[path] else { return ModuleMappings() }
    return try ModuleMappings(text: text, path: path)
  }

  /// The paths in the options `ProtoPathModuleMappings` and `PayloadMappings`, for the caller to read.
  public static func mappingPaths(inParameter parameter: String) throws(GeneratorError) -> [String] {
    try GeneratorOptions(parameter: parameter).mappingPaths
  }

  /// Throws if an option, `Key=Value`, is unknown or has a value that it does not accept.
  package static func checkOption(_ option: String) throws(GeneratorError) {
    try GeneratorOptions.check(option)
  }

  /// Throws if some options, which come from one place, set one twice of which only the last value would count.
  package static func checkRepetition(_ options: [String]) throws(GeneratorError) {
    try GeneratorOptions.checkRepetition(options)
  }

  /// What has no effect, and could be right for other files.
  package var warnings: [String] {
    if !options.generatesClients, !options.generatesServers, options.testClientModule == nil,
      options.generatesServices, !options.generatesReflectionData, hasServices
    {
      return ["options Client and Server are both false: of services, only their Metadata is generated"]
    }
    guard !hasServices else { return [] }
    if !options.generatesMessages {
      return ["nothing is generated: no .proto file has a service, and the options do not ask for messages"]
    }
    return options.idleWithoutServices.map { "option \($0) has no effect: no .proto file has a service" }
  }

  private var hasServices: Bool { wanted.contains { !schema.files[$0].services.isEmpty } }

  /// The files to generate.
  private var wanted: [Int] { request.filesToGenerate.compactMap { schema.filesByName[$0] } }

  /// What is hardly meant in rules of HTTP. Mistakes are among it, if servers are not generated: the rules may be for those of
  /// others.
  package var doubts: [RuleFinding] {
    guard let rules else { return [] }
    return options.generatesServers ? rules.doubts : rules.mistakes
  }

  private func checkRules() throws(GeneratorError) {
    guard let rules, options.generatesServers, !rules.mistakes.isEmpty else { return }
    throw GeneratorError(rules.mistakes)
  }

  /// The names of all options, sorted.
  public static var optionNames: [String] { GeneratorOptions.names }

  /// Whether this package already contains the types of a file, as it does for the well-known types.
  public static func comesWithPackage(_ file: String) -> Bool { ModuleMappings().module(of: file) != nil }

  /// The files that the request and its options require.
  public func files() throws(GeneratorError) -> [GeneratedFile] {
    var files: [GeneratedFile] = []
    for output in try outputs() { files += try output.files() }
    return files
  }

  /// What the request and its options require, one for each file to generate, in the order of ``files()``. Nothing is
  /// generated yet: that can be done for several at once.
  public func outputs() throws(GeneratorError) -> [GeneratorOutput] {
    try NameCheck.check(wanted, in: schema, options)
    try checkRules()
    let scalars = Set(Scalar.allCases.map(\.protoName))
    let clashes =
      schema.messages.contains { scalars.contains($0.swiftName) }
      || schema.enums.contains { scalars.contains($0.swiftName) }
    let moduleNames = ModuleNames(
      of: wanted,
      in: schema,
      withFolders: options.namesRegistriesInFull
    )
    var sources: [String: String] = [:]
    var bareNames: [String: String] = [:]
    var outputs: [GeneratorOutput] = []
    for name in request.filesToGenerate {
      guard let index = schema.filesByName[name] else {
        throw GeneratorError("\(name): the file to generate is not in the request")
      }
      guard !FileNaming.hasControls(name) else {
        let shown = name.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
        throw GeneratorError("\(shown): a file to generate has control characters in its name")
      }
      if options.generatesServices {
        for service in schema.files[index].services { try service.checkMethodNames(in: name) }
      }
      let output = GeneratorOutput(
        FileSource(
          schema: schema,
          options: options,
          payloads: payloads,
          moduleNames: moduleNames,
          index: index,
          qualifiesScalars: clashes
        )
      )
      for path in output.names {
        guard FileNaming.isBelowOutput(path) else {
          throw GeneratorError(
            "\(name): its code would be written to \(path), outside of the output directory"
          )
        }
        if let other = sources.updateValue(name, forKey: path) {
          throw GeneratorError(
            "\(name) and \(other) would both be written to \(path): rename one, or use FileNaming=FullPath"
          )
        }
        let bareName = FileNaming.bareName(of: path)
        guard let other = bareNames.updateValue(name, forKey: bareName), options.fileNaming == nil else {
          continue
        }
        throw GeneratorError(
          "\(name) and \(other) would both have a file \(bareName), and a Swift module cannot have two files of one "
            + "name: use FileNaming=PathToUnderscores, or FileNaming=FullPath if they are for different modules"
        )
      }
      outputs.append(output)
    }
    return outputs
  }
}

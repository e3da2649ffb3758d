/// Finds types of different files that would have one name in Swift.
struct NameCheck {
  private let schema: Schema
  private let options: GeneratorOptions
  /// The first type of each name, as it is called in messages, with its file.
  private var known: [String: (type: String, file: Int)] = [:]

  /// Throws if the code of these files, all of one module, would declare a name twice.
  static func check(_ files: [Int], in schema: Schema, _ options: GeneratorOptions) throws(GeneratorError) {
    // Files of the same name are for different modules, if the user says so.
    guard options.fileNaming != .fullPath else { return }
    var check = NameCheck(schema: schema, options: options)
    for file in files { try check.add(file) }
  }

  private init(schema: Schema, options: GeneratorOptions) {
    self.schema = schema
    self.options = options
  }

  private mutating func add(_ index: Int) throws(GeneratorError) {
    let file = schema.files[index]
    if options.generatesMessages {
      for message in file.messages {
        let message = schema.messages[message]
        try add(message.swiftName, "the message \(message.fullName)", index)
      }
      for value in file.enums {
        let value = schema.enums[value]
        try add(value.swiftName, "the enum \(value.fullName)", index)
      }
    }
    guard options.generatesServices else { return }
    for service in file.services {
      for suffix in suffixes {
        try add(service.swiftName + suffix, "the service \(service.fullName)", index)
      }
    }
  }

  /// Those of the types that are generated for a service.
  private var suffixes: [String] {
    ServiceSchema.typeSuffixes.filter { suffix in
      switch suffix {
      case "Metadata": options.testClientModule == nil
      case "TestClient": options.generatesTestClients
      case "Provider", "ServerInterceptorFactoryProtocol", "ServerInterceptors": options.generatesServers
      default: options.generatesClients
      }
    }
  }

  private mutating func add(_ name: String, _ type: String, _ file: Int) throws(GeneratorError) {
    guard let other = known.updateValue((type, file), forKey: name), other.file != file else { return }
    let (one, two) = (schema.files[other.file], schema.files[file])
    let cause =
      one.prefix == two.prefix && one.package != two.package
      ? "the packages \(one.package) and \(two.package) have one prefix in Swift, \(one.prefix): "
      : ""
    throw GeneratorError(
      "\(one.name) and \(two.name): \(cause)\(other.type) and \(type) would both be \(name) in Swift: rename one, or "
        + "give a file another prefix with option swift_prefix = \"…\""
    )
  }
}

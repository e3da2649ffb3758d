// After the other passes: services, whose type names must differ from those of messages.
extension SchemaBuilder {
  /// Adds the services to `schema`, whose other types have their names.
  static func addServices(to schema: inout Schema) throws(GeneratorError) {
    for index in schema.files.indices where !schema.files[index].descriptor.service.isEmpty {
      var taken = typeNames(seenFrom: index, in: schema)
      var services: [ServiceSchema] = []
      for (position, service) in schema.files[index].descriptor.service.enumerated() {
        services.append(
          try build(service, at: Int32(position), of: schema.files[index], in: schema, taken: &taken)
        )
      }
      schema.files[index].services = services
    }
  }

  private static func build(
    _ service: ServiceDescriptor,
    at position: Int32,
    of file: FileSchema,
    in schema: Schema,
    taken: inout Set<String>
  ) throws(GeneratorError) -> ServiceSchema {
    let fullName = file.package.isEmpty ? service.name : "\(file.package).\(service.name)"
    guard service.name.isIdentifier else { throw GeneratorError("'\(fullName)' is not a valid service name") }
    var swiftName = file.prefix + service.name
    while ServiceSchema.typeSuffixes.contains(where: { taken.contains(swiftName + $0) }) {
      swiftName += "Service"
    }
    taken.formUnion(ServiceSchema.typeSuffixes.map { swiftName + $0 })
    return ServiceSchema(
      name: service.name,
      fullName: fullName,
      path: [6, position],
      isDeprecated: service.options.deprecated,
      swiftName: swiftName,
      methods: try methods(of: service, fullName: fullName, at: [6, position], in: schema)
    )
  }

  private static func methods(
    of service: ServiceDescriptor,
    fullName: String,
    at path: [Int32],
    in schema: Schema
  ) throws(GeneratorError) -> [MethodSchema] {
    var methods: [MethodSchema] = []
    var names: Set<String> = []
    for (position, method) in service.method.enumerated() {
      let user = "\(fullName).\(method.name)"
      guard method.name.isIdentifier else { throw GeneratorError("'\(user)' is not a valid method name") }
      guard names.insert(method.name).inserted else {
        throw GeneratorError("the method '\(user)' is in the request twice")
      }
      methods.append(
        MethodSchema(
          name: method.name,
          path: path + [2, Int32(position)],
          isDeprecated: method.options.deprecated,
          kind: MethodSchema.Kind(
            streamsRequests: method.clientStreaming,
            streamsResponses: method.serverStreaming
          ),
          idempotency: MethodSchema.Idempotency(level: method.options.idempotencyLevel),
          rule: method.options.httpRule.text,
          request: try schema.message(named: method.inputType, for: user),
          response: try schema.message(named: method.outputType, for: user)
        )
      )
    }
    return methods
  }

  /// The top-level types of a file and its imports; they do not depend on other files in the request.
  private static func typeNames(seenFrom index: Int, in schema: Schema) -> Set<String> {
    var names: Set<String> = []
    for file in schema.filesReached(from: index) {
      for message in schema.files[file].messages { names.insert(schema.messages[message].swiftName) }
      for value in schema.files[file].enums { names.insert(schema.enums[value].swiftName) }
    }
    return names
  }
}

extension Schema {
  /// A file and its direct and indirect imports; imports come first.
  func filesReached(from index: Int) -> [Int] {
    var reached: Set<Int> = []
    var pending = [index]
    while let next = pending.popLast() {
      guard reached.insert(next).inserted else { continue }
      pending += files[next].descriptor.dependency.compactMap { filesByName[$0] }
    }
    // The compiler puts imports before the files that import them.
    return reached.sorted()
  }
}

/// What the code of one file is generated from.
struct FileSource: Sendable {
  let schema: Schema
  let options: GeneratorOptions
  let payloads: PayloadMappings
  let moduleNames: ModuleNames
  /// The file in the schema.
  let index: Int
  /// Whether a type of the user has the same name as a scalar type of the runtime.
  let qualifiesScalars: Bool

  var file: FileSchema { schema.files[index] }
}

/// The schema from the point of view of one file, and the options. A class, because every emitter has it.
final class FileContext {
  private let source: FileSource
  let comments: Comments

  init(_ source: FileSource) {
    self.source = source
    comments = Comments(of: source.file.descriptor)
  }

  var schema: Schema { source.schema }
  var options: GeneratorOptions { source.options }
  var payloads: PayloadMappings { source.payloads }
  var moduleNames: ModuleNames { source.moduleNames }
  var file: FileSchema { source.file }
  var index: Int { source.index }
  var visibility: String { options.visibility.modifier }

  /// A name of the message runtime, qualified with the module because a type of the user may have the same name.
  static func runtime(_ name: String) -> String { "SwitchboardProtobuf.\(name)" }

  /// The name of a message in the code of this file.
  func name(ofMessage index: Int) -> String {
    qualified(schema.messages[index].swiftFullName, in: schema.messages[index].file)
  }

  /// The name of an enum in the code of this file.
  func name(ofEnum index: Int) -> String {
    qualified(schema.enums[index].swiftFullName, in: schema.enums[index].file)
  }

  /// A top-level name in the module of `target`.
  func qualified(_ name: String, in target: Int) -> String {
    guard let module = schema.files[target].module, module != file.module else { return name }
    return "\(module).\(name)"
  }

  // MARK: Types

  /// The type of one value.
  func valueType(_ type: FieldSchema.ValueType) -> String {
    switch type {
    case .scalar(let scalar): scalar.swiftName
    case .enumeration(let index): name(ofEnum: index)
    case .message(let index, _): name(ofMessage: index)
    }
  }

  /// The type that says how a value is read and written.
  func protoType(_ type: FieldSchema.ValueType) -> String {
    if case .scalar(let scalar) = type { scalarName(scalar) } else { valueType(type) }
  }

  /// The runtime's name of a scalar.
  func scalarName(_ scalar: Scalar) -> String {
    source.qualifiesScalars ? FileContext.runtime(scalar.protoName) : scalar.protoName
  }

  /// The type of a property.
  func propertyType(of field: FieldSchema) -> String {
    let value = valueType(field.type)
    switch field.shape {
    case .repeated: return "[\(value)]"
    case .map(let key): return "[\(key.swiftName): \(value)]"
    case .implicit, .explicit, .required, .oneof: return value
    }
  }

  /// The value of a property that is not set.
  func initialValue(of field: FieldSchema) -> String {
    switch field.shape {
    case .repeated: return "[]"
    case .map: return "[:]"
    case .implicit, .explicit, .required, .oneof: break
    }
    switch (field.initial, field.type) {
    case (.literal(let text), _): return text
    case (.enumCase(let name), let type): return "\(valueType(type)).\(name.withoutBackticks)"
    case (.initial, .scalar(let scalar)): return scalar.zero
    case (.initial, let type): return "\(valueType(type))()"
    }
  }

  /// The default that a field declares, if it differs from the zero of the type.
  func declaredDefault(of field: FieldSchema) -> String? {
    switch (field.initial, field.type) {
    case (.literal(let text), .scalar(let scalar)):
      return text == scalar.zero || text == "0.0" ? nil : text
    case (.enumCase(let name), .enumeration(let index)):
      return name == schema.enums[index].values.first?.swiftName ? nil : initialValue(of: field)
    default: return nil
    }
  }
}

extension FileContext {
  /// The other modules whose types the file uses.
  var importedModules: Set<String> {
    var modules: Set<String> = []
    for message in schema.messages[file.allMessages] where !message.isMapEntry {
      for field in message.fields { add(field.type, to: &modules) }
      for field in message.extensions { add(field, to: &modules) }
    }
    for field in file.extensions { add(field, to: &modules) }
    return modules
  }

  private func add(_ field: ExtensionSchema, to modules: inout Set<String>) {
    add(field.field.type, to: &modules)
    add(.message(field.extended, isDelimited: false), to: &modules)
  }

  private func add(_ type: FieldSchema.ValueType, to modules: inout Set<String>) {
    let file: Int
    switch type {
    case .scalar: return
    case .enumeration(let index): file = schema.enums[index].file
    case .message(let index, _): file = schema.messages[index].file
    }
    if let module = schema.files[file].module, module != self.file.module { modules.insert(module) }
  }
}

/// The Swift modules of the types in `.proto` files.
struct ModuleMappings {
  private var modules: [String: String]

  /// The files whose types this package contains.
  private static var bundled: [String: String] {
    let wellKnown = [
      "any", "api", "duration", "empty", "field_mask", "source_context", "struct", "timestamp", "type",
      "wrappers",
    ]
    var modules: [String: String] = [:]
    for name in wellKnown { modules["google/protobuf/\(name).proto"] = runtimeModule }
    modules["google/protobuf/descriptor.proto"] = descriptorsModule
    modules["google/protobuf/compiler/plugin.proto"] = descriptorsModule
    return modules
  }

  /// Mappings for only the files that come with this package.
  init() { modules = ModuleMappings.bundled }

  /// Parses a file in SwiftProtobuf's format:
  ///
  ///     mapping { module_name: "Shop" proto_file_path: "shop/order.proto" proto_file_path: "shop/cart.proto" }
  init(text: String) throws(GeneratorError) {
    self.init()
    var reader = MappingReader(
      text,
      title: "module mappings",
      kind: "mapping",
      fields: ["module_name", "proto_file_path"]
    )
    while let mapping = try reader.next() {
      guard let name = try mapping.single("module_name"), name.isIdentifier else {
        throw mapping.error("the mapping has no module_name that can be imported")
      }
      for path in mapping["proto_file_path"] {
        let module = modules.updateValue(name, forKey: path)
        guard module == nil || module == name || ModuleMappings.bundled[path] != nil else {
          throw GeneratorError("module mappings: '\(path)' is in two modules, \(module ?? "") and \(name)")
        }
      }
    }
  }

  /// The module with the types of `file`, or nil if it is the module being generated.
  func module(of file: String) -> String? { modules[file] }
}

/// The module of the message runtime.
let runtimeModule = "SwitchboardProtobuf"

/// The module of the descriptor messages.
let descriptorsModule = "SwitchboardDescriptors"

/// The Swift modules of the types in `.proto` files.
struct ModuleMappings {
  private var modules: [String: String]
  /// The files that the user maps, and where.
  private var selections: [(path: String, error: @Sendable (String) -> GeneratorError)] = []

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
  ///
  /// `path` is that of the file, for errors.
  init(text: String, path: String? = nil) throws(GeneratorError) {
    self.init()
    var reader = MappingReader(
      text,
      title: "module mappings" + (path.map { " in \($0)" } ?? ""),
      kind: "mapping",
      fields: ["module_name", "proto_file_path"]
    )
    while let mapping = try reader.next() {
      guard let name = try mapping.single("module_name"), name.isIdentifier else {
        throw mapping.error("the mapping has no module_name that can be imported")
      }
      for path in mapping["proto_file_path"] {
        let module = modules.updateValue(name, forKey: path)
        selections.append((path, mapping.error))
        guard module == nil || module == name || ModuleMappings.bundled[path] != nil else {
          throw mapping.error("'\(path)' is in two modules, \(module ?? "") and \(name)")
        }
      }
    }
  }

  /// Throws for the first file that is mapped and that does not exist: it is misspelled, and its mapping would have no effect.
  func check(_ exists: (String) -> Bool) throws(GeneratorError) {
    for (path, error) in selections where ModuleMappings.bundled[path] == nil && !exists(path) {
      throw error("there is no file '\(path)'; paths are as in imports")
    }
  }

  /// The module with the types of `file`, or nil if it is the module being generated.
  func module(of file: String) -> String? { modules[file] }
}

/// The module of the message runtime.
let runtimeModule = "SwitchboardProtobuf"

/// The module of the descriptor messages.
let descriptorsModule = "SwitchboardDescriptors"

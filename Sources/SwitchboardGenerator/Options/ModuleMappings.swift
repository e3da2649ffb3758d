/// Which Swift modules hold the types of which `.proto` files.
struct ModuleMappings {
  private var modules: [String: String]

  /// The files whose types come with the package.
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

  /// Only the files that come with the package.
  init() { modules = ModuleMappings.bundled }

  /// The mappings in a file of the form that Swift's protobuf users know:
  ///
  ///     mapping { module_name: "Shop" proto_file_path: "shop/order.proto" proto_file_path: "shop/cart.proto" }
  init(text: String) throws(GeneratorError) {
    self.init()
    var reader = MappingReader(text)
    while let mapping = try reader.next() {
      for path in mapping.paths {
        let module = modules.updateValue(mapping.module, forKey: path)
        guard module == nil || module == mapping.module || ModuleMappings.bundled[path] != nil else {
          throw GeneratorError(
            "module mappings: '\(path)' is in two modules, \(module ?? "") and \(mapping.module)"
          )
        }
      }
    }
  }

  /// The module with the types of `file`, or nil where it is the one that is generated for.
  func module(of file: String) -> String? { modules[file] }
}

/// The module of the message runtime.
let runtimeModule = "SwitchboardProtobuf"

/// The module of the messages that describe schemas.
let descriptorsModule = "SwitchboardDescriptors"

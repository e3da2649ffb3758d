/// The top-level names of modules that several files determine: each file that declares extensions has a registry of
/// them, whose name must differ from those of other registries and of types.
struct ModuleNames {
  /// The types and registries by their modules; that of the module being generated has no name.
  private var taken: [String?: Set<String>] = [:]
  /// The registries by the indexes of their files.
  private var registries: [Int: String] = [:]

  /// The names of `files`, those to be generated. Others do not matter: the same schema must give the same names, no
  /// matter which of its imports are generated as well. If other runs generate files of the same modules, the names of
  /// registries must not depend on which files are generated together: with `withFolders`, they always have the folders.
  init(of files: [Int], in schema: Schema, withFolders: Bool = false) {
    for (module, files) in Dictionary(grouping: files, by: { schema.files[$0].module }) {
      add(files.map { ($0, schema.files[$0]) }, of: module, in: schema, withFolders)
    }
  }

  private mutating func add(
    _ files: [(index: Int, file: FileSchema)],
    of module: String?,
    in schema: Schema,
    _ withFolders: Bool
  ) {
    var names: Set<String> = []
    for (_, file) in files {
      for message in file.messages { names.insert(schema.messages[message].swiftName) }
      for value in file.enums { names.insert(schema.enums[value].swiftName) }
    }
    let declaring = files.filter { _, file in
      !file.extensions.isEmpty || schema.messages[file.allMessages].contains { !$0.extensions.isEmpty }
    }
    let count = Dictionary(declaring.map { (ModuleNames.registry(of: $0.file), 1) }, uniquingKeysWith: +)
    // By name: which file comes first in the request must not matter.
    for (index, file) in declaring.sorted(by: { $0.file.name < $1.file.name }) {
      let short = ModuleNames.registry(of: file)
      var name = count[short] == 1 && !withFolders ? short : ModuleNames.registry(of: file, withFolders: true)
      while !names.insert(name).inserted { name += "_" }
      registries[index] = name
    }
    taken[module] = names
  }

  private static func registry(of file: FileSchema, withFolders: Bool = false) -> String {
    TypeNames.fileScope(prefix: file.prefix, file: file.name, withFolders: withFolders) + "_Extensions"
  }

  /// The registry of the extensions that a file declares.
  func registry(ofFile index: Int) -> String { registries[index] ?? "" }

  /// The names of types and registries in a module.
  func names(in module: String?) -> Set<String> { taken[module] ?? [] }
}

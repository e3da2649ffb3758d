import Foundation

/// A target with a configuration, and the `.proto` files that belong to it.
struct ProtoTarget {
  /// The module that contains the generated files.
  var module: String
  var configurationFile: URL
  var configuration: Configuration
  /// The roots of its imports.
  var roots: [URL]
  /// Its files, by the names in imports, in order.
  var protos: [Proto]

  struct Proto: Hashable {
    var name: String
    var file: URL
  }

  /// Reads the configuration in `directory`; `nil` if there is none.
  init?(module: String, directory: URL) throws {
    guard let configuration = try Configuration(in: directory) else { return nil }
    self.module = module
    self.configuration = configuration
    let configurationFile = directory.appendingPathComponent(Configuration.fileName)
    let roots = configuration.includes.map {
      directory.resolving($0)
    }
    self.configurationFile = configurationFile
    self.roots = roots
    for root in roots where !root.isDirectory {
      throw ConfigurationError(configurationFile, "the include directory \(root.path) does not exist")
    }
    protos = try configuration.protoPaths(beside: configurationFile).map { path in
      let file = directory.resolving(path)
      guard FileManager.default.fileExists(atPath: file.path) else {
        throw ConfigurationError(configurationFile, "the file \(file.path) does not exist")
      }
      guard !file.isDirectory else {
        throw ConfigurationError(
          configurationFile,
          "\(file.path) is a directory; 'protos' names files, and without it every .proto below this file is used"
        )
      }
      guard let name = roots.lazy.compactMap({ file.path(below: $0) }).first else {
        throw ConfigurationError(configurationFile, "\(file.path) is not in any of the 'includes'")
      }
      return Proto(name: name, file: file)
    }
  }
}

extension Configuration {
  /// Reads the configuration in `directory`; `nil` if there is none.
  fileprivate init?(in directory: URL) throws(ConfigurationError) {
    let file = directory.appendingPathComponent(Self.fileName)
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    let content: Data
    do {
      content = try Data(contentsOf: file)
    } catch {
      throw ConfigurationError(file, "cannot be read: \(error.localizedDescription)")
    }
    self = try Configuration(content, from: file)
  }
}

/// Every `.proto` file in `directory` and below it, in a stable order.
func protoFiles(below directory: URL) -> [URL] {
  protoNames(below: directory).map { directory.resolving($0) }
}

extension URL {
  /// Resolves `path` relative to this directory.
  func resolving(_ path: String) -> URL {
    // Relative to a URL without a trailing slash, a path would be resolved in the parent directory.
    (path.hasPrefix("/") ? URL(fileURLWithPath: path) : appendingPathComponent(path)).standardizedFileURL
  }

  fileprivate var isDirectory: Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }

  /// The path relative to `root`; `nil` if the file is not below it.
  fileprivate func path(below root: URL) -> String? {
    let prefix = root.path.hasSuffix("/") ? root.path : root.path + "/"
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : nil
  }
}

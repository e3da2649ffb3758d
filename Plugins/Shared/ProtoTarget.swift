import Foundation

/// A target with a configuration, and the `.proto` files that this makes it own.
struct ProtoTarget {
  /// The module that its generated files are part of.
  var module: String
  var configurationFile: URL
  var configuration: Configuration
  /// The roots of its imports.
  var roots: [URL]
  /// Its files, by the names that imports know them by, in order.
  var protos: [Proto]

  struct Proto: Hashable {
    var name: String
    var file: URL
  }

  /// Reads the configuration in `directory`; `nil` where there is none.
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
      throw ConfigurationError(configurationFile, "the include directory \(root.path) is not there")
    }
    protos = try configuration.protoPaths(beside: configurationFile).map { path in
      let file = directory.resolving(path)
      guard FileManager.default.fileExists(atPath: file.path) else {
        throw ConfigurationError(configurationFile, "the file \(file.path) is not there")
      }
      guard let name = roots.lazy.compactMap({ file.path(below: $0) }).first else {
        throw ConfigurationError(configurationFile, "\(file.path) does not lie in any of the 'includes'")
      }
      return Proto(name: name, file: file)
    }
  }
}

extension Configuration {
  /// Reads the configuration in `directory`; `nil` where there is none.
  fileprivate init?(in directory: URL) throws(ConfigurationError) {
    let file = directory.appendingPathComponent(Self.fileName)
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    let content: Data
    do {
      content = try Data(contentsOf: file)
    } catch {
      throw ConfigurationError(file, "it cannot be read: \(error.localizedDescription)")
    }
    self = try Configuration(content, from: file)
  }
}

/// Every `.proto` file in `directory` and below it, in a stable order.
func protoFiles(below directory: URL) -> [URL] {
  protoNames(below: directory).map { directory.resolving($0) }
}

extension URL {
  /// The file or directory that `path` names from this directory.
  func resolving(_ path: String) -> URL {
    // A path relative to a URL without a slash at its end would be relative to its parent.
    (path.hasPrefix("/") ? URL(fileURLWithPath: path) : appendingPathComponent(path)).standardizedFileURL
  }

  fileprivate var isDirectory: Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) && isDirectory.boolValue
  }

  /// What is left of the path below `root`; `nil` where the file does not lie there.
  fileprivate func path(below root: URL) -> String? {
    let prefix = root.path.hasSuffix("/") ? root.path : root.path + "/"
    return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : nil
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Configuration {
  /// The paths of the files to generate for: absolute, or relative to the directory of the configuration `file`.
  func protoPaths(beside file: URL) throws(ConfigurationError) -> [String] {
    let paths = protos ?? protoNames(below: file.deletingLastPathComponent())
    guard !paths.isEmpty else {
      throw ConfigurationError(
        file,
        protos == nil ? "no .proto file in its directory or below" : "'protos' is empty"
      )
    }
    if let path = doubledProto(in: file.deletingLastPathComponent()) {
      throw ConfigurationError(file, "'protos' names \(path) twice")
    }
    return paths
  }

  private func doubledProto(in directory: URL) -> String? {
    var seen: Set<String> = []
    return protos?.first { path in
      !seen.insert(URL(fileURLWithPath: path, relativeTo: directory).standardizedFileURL.path).inserted
    }
  }
}

/// The paths of every `.proto` file in `directory` and below it, relative to it, in a stable order, without hidden
/// files.
func protoNames(below directory: URL) -> [String] {
  names(in: directory.path, after: "").sorted()
}

private func names(in directory: String, after prefix: String) -> [String] {
  let files = FileManager.default
  let entries = (try? files.contentsOfDirectory(atPath: directory)) ?? []
  return entries.filter { !$0.hasPrefix(".") }.flatMap { entry -> [String] in
    let path = directory + "/" + entry
    // For a link this is the type of the link itself; a link can point to a directory that contains it.
    let type = try? files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    if type == .typeDirectory { return names(in: path, after: prefix + entry + "/") }
    return entry.hasSuffix(".proto") ? [prefix + entry] : []
  }
}

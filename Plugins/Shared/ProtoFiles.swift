#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Configuration {
  /// The paths of the files to generate for: absolute, or relative to the directory of `file`, which says all this.
  func protoPaths(beside file: URL) throws(ConfigurationError) -> [String] {
    let paths = protos ?? protoNames(below: file.deletingLastPathComponent())
    guard !paths.isEmpty else {
      throw ConfigurationError(
        file,
        protos == nil ? "there is no .proto file beside it or below it" : "'protos' names no file"
      )
    }
    return paths
  }
}

/// The paths of every `.proto` file in `directory` and below it, relative to it, in a stable order. What is hidden is
/// left out.
func protoNames(below directory: URL) -> [String] {
  names(in: directory.path, after: "").sorted()
}

private func names(in directory: String, after prefix: String) -> [String] {
  let files = FileManager.default
  let entries = (try? files.contentsOfDirectory(atPath: directory)) ?? []
  return entries.filter { !$0.hasPrefix(".") }.flatMap { entry -> [String] in
    let path = directory + "/" + entry
    // Of a link this is the type of the link: what it leads to may hold the directory that it is in.
    let type = try? files.attributesOfItem(atPath: path)[.type] as? FileAttributeType
    if type == .typeDirectory { return names(in: path, after: prefix + entry + "/") }
    return entry.hasSuffix(".proto") ? [prefix + entry] : []
  }
}

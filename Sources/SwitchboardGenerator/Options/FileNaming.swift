/// How to derive the name of a generated file from the name of its `.proto` file.
enum FileNaming: String, CaseIterable {
  case fullPath = "FullPath"
  case pathToUnderscores = "PathToUnderscores"
  case dropPath = "DropPath"

  /// The name of the file generated from `proto`.
  func fileName(for proto: String, extension ending: String) -> String {
    let stem = proto.hasSuffix(".proto") ? String(proto.dropLast(6)) : proto
    let parts = stem.split(separator: "/")
    return switch self {
    case .fullPath: stem + ending
    case .pathToUnderscores: parts.joined(separator: "_") + ending
    case .dropPath: (parts.last.map(String.init) ?? stem) + ending
    }
  }
}

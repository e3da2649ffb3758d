/// How to derive the name of a generated file from the name of its `.proto` file.
package enum FileNaming: String, CaseIterable {
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

  /// The last part of a path, by which Swift's compiler tells the files of a module apart.
  static func bareName(of path: String) -> String { path.split(separator: "/").last.map(String.init) ?? path }

  /// Whether a path leads nowhere but below the directory that it is relative to. Names come from requests, which need not
  /// come from a compiler.
  package static func isBelowOutput(_ path: String) -> Bool {
    let parts = path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return parts.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
  }

  /// Whether a name has control characters, which would end the comment in which generated code names its source.
  static func hasControls(_ name: String) -> Bool {
    name.unicodeScalars.contains { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
  }
}

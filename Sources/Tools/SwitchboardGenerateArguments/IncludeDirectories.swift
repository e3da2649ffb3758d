import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The directories in which the tool looks for `.proto` files.
package enum IncludeDirectories {
  /// The directories of the user, or the current one, followed by those of the well-known types.
  package static func all(user: [String]) -> [String] {
    (user.isEmpty ? ["."] : user) + candidates.filter(holdsWellKnownTypes)
  }

  /// Whether `path` is a directory that can be searched.
  package static func exists(_ path: String) -> Bool { access(path, X_OK) == 0 }

  /// Whether there is a file at a path, or with this name in one of the directories, that can be read.
  package static func hasFile(_ path: String, in directories: [String]) -> Bool {
    isFile(path) || hasImport(path, in: directories)
  }

  /// Whether a file with this name in one of the directories can be read.
  package static func hasImport(_ name: String, in directories: [String]) -> Bool {
    path(ofImport: name, in: directories) != nil
  }

  /// The path of the file with this name in the first of the directories that has it.
  package static func path(ofImport name: String, in directories: [String]) -> String? {
    paths(ofImport: name, in: directories).first
  }

  /// The paths of all files with this name, of which the first is the one that is imported.
  package static func paths(ofImport name: String, in directories: [String]) -> [String] {
    directories.map { $0 == "." ? name : $0.hasSuffix("/") ? $0 + name : "\($0)/\(name)" }.filter(isFile)
  }

  private static func isFile(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR && access(path, R_OK) == 0
  }

  /// The directories next to the tool, as in an installation, and those of packages on each system.
  private static var candidates: [String] {
    let executable = executablePath() ?? ""
    let directory = executable.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    return [directory + "/include", directory + "/../include"] + [
      "/usr/include", "/usr/local/include", "/opt/homebrew/include",
    ]
  }

  private static func holdsWellKnownTypes(_ directory: String) -> Bool {
    access(directory + "/google/protobuf/descriptor.proto", R_OK) == 0
  }
}

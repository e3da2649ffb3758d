import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Where the tool looks for `.proto` files.
enum IncludeDirectories {
  /// The directories that `user` names, or the current one, and after them those of the well-known types.
  static func all(user: [String]) -> [String] {
    (user.isEmpty ? ["."] : user) + candidates.filter(holdsWellKnownTypes)
  }

  /// Whether there is something to look into at `path`.
  static func exists(_ path: String) -> Bool { access(path, X_OK) == 0 }

  /// Beside the tool, as an installation has them, and where packages put them on each system.
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

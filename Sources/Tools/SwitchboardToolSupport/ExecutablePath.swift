#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The path of the running program; `nil` if the system does not provide it.
public func executablePath() -> String? {
  #if os(Linux)
    let path = "/proc/self/exe"
  #else
    guard let path = CommandLine.arguments.first else { return nil }
  #endif
  // `realpath` allocates its result, which is copied and freed here.
  guard let resolved = realpath(path, nil) else { return nil }
  defer { free(resolved) }
  return String(cString: resolved)
}

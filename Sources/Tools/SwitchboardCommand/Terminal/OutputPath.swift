import SwitchboardToolSupport

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A file that a user names for output, in a directory that exists.
struct OutputPath {
  /// Nil for a device, a pipe or a link, which keep their names: they are written to.
  private let directory: OutputDirectory?
  private let path: String
  private let name: String

  /// Throws if there is no such directory, or nothing can be written in it, or it is a directory itself.
  init(_ path: String) throws {
    guard let last = path.split(separator: "/", omittingEmptySubsequences: false).last, !last.isEmpty,
      last != ".", last != ".."
    else { throw Failure.usage("'\(path)' does not name a file") }
    name = String(last)
    self.path = path
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      throw Failure.usage("'\(path)' does not name a file but a directory")
    }
    guard lstat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
      directory = nil
      return
    }
    var folder = path.dropLast(last.count)
    while folder.count > 1, folder.last == "/" { folder.removeLast() }
    directory = try OutputDirectory(folder.isEmpty ? "." : String(folder))
  }

  /// Whether there is something with this name.
  var exists: Bool { access(path, F_OK) == 0 }

  /// Replaces a file as a whole.
  func write(_ content: [UInt8]) throws {
    guard let directory else { return try Descriptor.writeFile(content, through: path) }
    try directory.write(content, to: name)
  }
}

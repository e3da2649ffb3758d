// unsafe: reads the names of a directory's entries, which the system lends until the next one

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The files and directories in a directory. It has no links, no devices and no pipes.
package struct DirectoryListing: Sendable {
  package private(set) var files: [String] = []
  package private(set) var directories: [String] = []
  /// What cannot be looked at, or has a name that is not UTF-8.
  package private(set) var unreadable: [String] = []

  package init(of path: String) throws(SystemError) {
    guard let directory = opendir(path) else { throw SystemError(path) }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { name in Array(name.prefix { $0 != 0 }) }
      let shown = String(decoding: bytes, as: UTF8.self)
      guard shown != ".", shown != ".." else { continue }
      var status = stat()
      guard let name = String(validating: bytes, as: UTF8.self), lstat(path + "/" + name, &status) == 0 else {
        unreadable.append(shown)
        continue
      }
      switch status.st_mode & S_IFMT {
      case S_IFREG: files.append(name)
      case S_IFDIR: directories.append(name)
      default: continue
      }
    }
  }
}

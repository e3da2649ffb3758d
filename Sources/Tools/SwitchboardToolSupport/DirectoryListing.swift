// unsafe: reads the names of a directory's entries, which the system lends until the next one

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The files and directories in a directory. It has no links, no devices and no pipes, and nothing whose name is not UTF-8.
package struct DirectoryListing: Sendable {
  package private(set) var files: [String] = []
  package private(set) var directories: [String] = []

  package init(of path: String) throws(SystemError) {
    guard let directory = opendir(path) else { throw SystemError(path) }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      let bytes = withUnsafeBytes(of: &entry.pointee.d_name) { name in Array(name.prefix { $0 != 0 }) }
      guard let name = String(validating: bytes, as: UTF8.self), name != ".", name != ".." else { continue }
      var status = stat()
      guard lstat(path + "/" + name, &status) == 0 else { continue }
      switch status.st_mode & S_IFMT {
      case S_IFREG: files.append(name)
      case S_IFDIR: directories.append(name)
      default: continue
      }
    }
  }
}

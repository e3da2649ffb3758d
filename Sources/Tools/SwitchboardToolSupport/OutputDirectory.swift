#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A directory for generated files.
///
/// Files are written atomically. A file whose content does not change keeps its date, so that a build does not repeat
/// work.
public struct OutputDirectory: Sendable {
  private let path: String

  /// The existing directory at `path`.
  public init(_ path: String) throws(SystemError) {
    var status = stat()
    guard stat(path, &status) == 0 else { throw SystemError(path) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError(path, reason: "Not a directory") }
    guard access(path, W_OK | X_OK) == 0 else { throw SystemError(path) }
    self.path = path
  }

  /// Creates the directory at `path` and its parents, unless it exists.
  public init(making path: String) throws(SystemError) {
    try Self.make(path.split(separator: "/"), in: path.hasPrefix("/") ? "" : ".")
    try self.init(path)
  }

  /// Writes the file `name`; creates the directories in its path.
  public func write(_ content: [UInt8], to name: String) throws(SystemError) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
      throw SystemError(name, reason: "An output file must be in the output directory")
    }
    let target = path + "/" + name
    if let present = try? readFile(target), present == content { return }
    try replace(target, with: content) { () throws(SystemError) in try Self.make(parts.dropLast(), in: path) }
  }

  /// Replaces the file `name`, which keeps its permissions, but none to run as its owner. Throws if it is a link, belongs to
  /// another user, who would lose it, or has another content than expected.
  package func replace(_ name: String, expecting old: [UInt8], with content: [UInt8]) throws(SystemError) {
    let target = path + "/" + name
    var status = stat()
    guard lstat(target, &status) == 0 else { throw SystemError(target) }
    guard status.st_mode & S_IFMT == S_IFREG, access(target, W_OK) == 0 else {
      throw SystemError(target, reason: "Not a file that may be written")
    }
    guard status.st_uid == geteuid() else {
      throw SystemError(target, reason: "It belongs to another user, who has to do this")
    }
    let file = try Descriptor(readingEntry: target)
    let present: Result<[UInt8], SystemError> = Result { () throws(SystemError) in try file.readAll() }
    try file.closeFile()
    guard try present.get() == old else { throw SystemError(target, reason: "Changed in the meantime") }
    try replace(target, with: content, mode: status.st_mode & 0o777) { () throws(SystemError) in }
  }

  /// Creates directories, each in the previous one.
  private static func make(_ names: some Collection<Substring>, in parent: String) throws(SystemError) {
    var directory = parent
    for name in names {
      directory += "/" + name
      // For a directory that exists on a read-only disk, the system reports the disk instead of the existence.
      var status = stat()
      guard stat(directory, &status) != 0 else { continue }
      guard mkdir(directory, 0o777) == 0 || errno == EEXIST else { throw SystemError(directory) }
    }
  }

  private func replace(
    _ target: String,
    with content: [UInt8],
    mode: mode_t? = nil,
    makingParents: () throws(SystemError) -> Void
  ) throws(SystemError) {
    // The temporary file is in the same directory, because a rename cannot cross file systems. The process ID
    // distinguishes concurrent runs.
    let temporary = "\(target).\(getpid()).tmp"
    let file: Descriptor
    if let created = try? Descriptor(creating: temporary) {
      file = created
    } else {
      // The directory almost always exists and no old temporary file is left, so neither is checked in advance.
      try makingParents()
      unlink(temporary)
      file = try Descriptor(creating: temporary)
    }
    do throws(SystemError) {
      let written: Result<Void, SystemError> = Result { () throws(SystemError) in
        // Before the content is in it.
        if let mode { try file.allow(mode) }
        try file.writeAll(content)
      }
      try file.closeFile()
      try written.get()
      guard rename(temporary, target) == 0 else { throw SystemError(target) }
    } catch {
      unlink(temporary)
      throw error
    }
  }
}

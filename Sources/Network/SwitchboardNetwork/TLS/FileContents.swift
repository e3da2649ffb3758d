import SwitchboardCall
import SwitchboardText

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Files that a program names, which are small.
package enum FileContents {
  /// More than this is not what was meant.
  private static let sizeLimit = 16 * 1024 * 1024

  /// Reads a file, whatever the system takes for it, or only one that is none of a pipe, a device and a directory: with
  /// `isRegular`, it waits for no writer. Throws `INVALID_ARGUMENT` with its path.
  package static func read(_ path: String, isRegular: Bool = false) throws(GRPCStatus) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | (isRegular ? O_NONBLOCK : 0))
    guard descriptor >= 0 else { throw .unreadable(path, String(cString: strerror(errno))) }
    if isRegular {
      var facts = stat()
      guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
        close(descriptor)
        throw .unreadable(path, "it is no regular file")
      }
    }
    guard let file = fdopen(descriptor, "r") else {
      let reason = String(cString: strerror(errno))
      close(descriptor)
      throw .unreadable(path, reason)
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16 * 1024)
    while bytes.count <= sizeLimit, case let count = fread(&piece, 1, piece.count, file), count > 0 {
      bytes += piece[..<count]
    }
    guard ferror(file) == 0 else { throw .unreadable(path, String(cString: strerror(errno))) }
    guard bytes.count <= sizeLimit else { throw .unreadable(path, "it has more than \(sizeLimit) bytes") }
    return bytes
  }
}

extension GRPCStatus {
  fileprivate static func unreadable(_ path: String, _ reason: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "\(path.excerpt) cannot be read: \(reason)")
  }
}

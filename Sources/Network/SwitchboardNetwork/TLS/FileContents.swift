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

  /// Reads a file, whatever the system takes for it. Throws `INVALID_ARGUMENT` with its path.
  package static func read(_ path: String) throws(GRPCStatus) -> [UInt8] {
    guard let file = fopen(path, "r") else {
      throw .unreadable(path, String(cString: strerror(errno)))
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

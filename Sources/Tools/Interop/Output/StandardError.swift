import Glibc

/// Prints errors.
enum StandardError {
  static func complain(_ message: String) {
    let line = "Interop: \(message)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }
}

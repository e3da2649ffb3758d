import Glibc
import Switchboard

/// Where complaints go, and what the library logs.
struct StandardError: LogHandler {
  static func complain(_ message: String) {
    let line = "Interop: \(message)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }

  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    let details = metadata.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
    Self.complain("\(level): \(message)\(details.joined())")
  }
}

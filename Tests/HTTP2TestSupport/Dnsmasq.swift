import Glibc
import SwitchboardCall
import TestSupport

/// A real name server on a port of its own on loopback, which knows only what it is told.
final class Dnsmasq: Sendable {
  private let process: ChildProcess
  let authority: String

  /// Answers for the domain `test`; `hosts` are lines as in `/etc/hosts`, with a time to live of 77 s.
  init(hosts: String, _ arguments: [String] = []) throws {
    authority = "127.0.0.1:\(try Self.freePort())"
    let port = authority.split(separator: ":")[1]
    let file = try temporaryFile(Array(hosts.utf8), suffix: "hosts")
    let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"
    process = try ChildProcess(
      "/usr/sbin/dnsmasq",
      [
        "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--pid-file=", "--user=\(user)",
        "--port=\(port)", "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts",
        "--addn-hosts=\(file)", "--local=/test/", "--local-ttl=77",
      ] + arguments,
      errors: .ours
    )
    // It says so when it has bound its port, and then reads the file.
    while let line = process.line() {
      if line.contains(" addresses") { break }
    }
  }

  private static func freePort() throws -> Int {
    let (descriptor, port) = try LoopbackSocket.listening()
    close(descriptor)
    return port
  }
}

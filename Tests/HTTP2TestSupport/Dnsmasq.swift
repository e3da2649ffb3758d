import Foundation
import SwitchboardCall
import TestSupport

/// A real name server on a port of its own on loopback, which knows only what it is told.
public final class Dnsmasq: Sendable {
  private let process: ChildProcess
  private let hostsFile: String
  public let authority: String

  /// Answers for the domain `test`; `hosts` are lines as in `/etc/hosts`.
  public init(hosts: String, timeToLive: Int = 77, _ arguments: [String] = []) throws {
    authority = "127.0.0.1:\(try Self.freePort())"
    let port = authority.split(separator: ":")[1]
    hostsFile = try temporaryFile(Array(hosts.utf8), suffix: "hosts")
    let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"
    process = try ChildProcess(
      "/usr/sbin/dnsmasq",
      [
        "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--pid-file=", "--user=\(user)",
        "--port=\(port)", "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts",
        "--addn-hosts=\(hostsFile)", "--local=/test/", "--local-ttl=\(timeToLive)",
      ] + arguments,
      errors: .ours
    )
    // It reads the file when it has bound its port.
    waitForHosts()
  }

  /// Answers with other hosts from now on.
  public func answer(_ hosts: String) throws {
    try Data(hosts.utf8).write(to: URL(filePath: hostsFile))
    process.send(SIGHUP)
    waitForHosts()
  }

  /// Sends a signal to the server, such as one that stops it.
  public func send(_ signal: Int32) { process.send(signal) }

  private func waitForHosts() {
    while let line = process.line() {
      if line.contains("read \(hostsFile)") { break }
    }
  }

  private static func freePort() throws -> Int {
    let (descriptor, port) = try LoopbackSocket.listening()
    close(descriptor)
    return port
  }
}

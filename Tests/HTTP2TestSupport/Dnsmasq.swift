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
    let hostsFile = try temporaryFile(Array(hosts.utf8), suffix: "hosts")
    var lines: [String] = []
    // Another process may take the port before the server does, which then ends.
    for _ in 0..<5 {
      let (process, port) = try Self.start(hostsFile, timeToLive, arguments)
      lines = Self.linesUntilItHasRead(hostsFile, process)
      guard lines.last?.contains("read \(hostsFile)") == true else { continue }
      (self.hostsFile, self.process, authority) = (hostsFile, process, "127.0.0.1:\(port)")
      return
    }
    throw Unstarted(lines: lines)
  }

  /// The server ended each time that it was started.
  public struct Unstarted: Error, CustomStringConvertible {
    /// What it wrote at last.
    let lines: [String]

    public var description: String { "dnsmasq does not start: \(lines.joined(separator: "\n"))" }
  }

  private static func start(
    _ hostsFile: String,
    _ timeToLive: Int,
    _ arguments: [String]
  ) throws -> (ChildProcess, port: Int) {
    let port = try freePort()
    let user = getpwuid(getuid()).map { String(cString: $0.pointee.pw_name) } ?? "root"
    let process = try ChildProcess(
      "/usr/sbin/dnsmasq",
      [
        "--keep-in-foreground", "--log-facility=-", "--conf-file=/dev/null", "--pid-file=", "--user=\(user)",
        "--port=\(port)", "--listen-address=127.0.0.1", "--bind-interfaces", "--no-resolv", "--no-hosts",
        "--addn-hosts=\(hostsFile)", "--local=/test/", "--local-ttl=\(timeToLive)",
      ] + arguments,
      errors: .ours
    )
    return (process, port)
  }

  /// Answers with other hosts from now on.
  public func answer(_ hosts: String) throws {
    try Data(hosts.utf8).write(to: URL(filePath: hostsFile))
    process.send(SIGHUP)
    _ = Self.linesUntilItHasRead(hostsFile, process)
  }

  /// Sends a signal to the server, such as one that stops it.
  public func send(_ signal: Int32) { process.send(signal) }

  /// What the server writes until it has read the file, which it does when it has bound its port, or until it ends.
  private static func linesUntilItHasRead(_ hostsFile: String, _ process: ChildProcess) -> [String] {
    var lines: [String] = []
    while let line = process.line() {
      lines.append(line)
      if line.contains("read \(hostsFile)") { break }
    }
    return lines
  }

  private static func freePort() throws -> Int {
    let (descriptor, port) = try LoopbackSocket.listening()
    close(descriptor)
    return port
  }
}

import Foundation
import SwitchboardCall
import TestSupport
import Testing

/// A proxy from Debian's packages that connects to what it is asked for, on a port of its own.
final class ForwardProxy {
  enum Kind: CaseIterable {
    case tinyproxy, squid, microsocks
  }

  /// What its users must know, where it asks them. The password needs encoding in a URL.
  static let credentials = ProxyCredentials(user: "alice", password: "open sesame: 100%")
  private static let hash = "$apr1$switchbd$o81Tl/IzrNR7kP9neL/IZ/"

  let port: Int
  private let folder: URL
  private let process: ChildProcess

  /// Returns once it accepts connections.
  init(_ kind: Kind, asksForPassword: Bool = false) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "switchboard-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    // squid, if root starts it, continues as another user.
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: folder.path)
    let free = try LoopbackSocket.listening()
    close(free.descriptor)
    port = free.port
    let settings = Settings(folder: folder.path, port: port, asksForPassword: asksForPassword)
    let (program, arguments) = try kind.command(settings)
    process = try ChildProcess(program, arguments, output: .discarded, errors: .discarded)
    try waitUntilReady()
  }

  deinit {
    // Killed, because they inherit from the thread that started them that other signals are blocked. squid's helper ends
    // with its input.
    process.end(with: SIGKILL)
    try? FileManager.default.removeItem(at: folder)
  }

  /// The option for a channel.
  func option(_ kind: Kind, _ credentials: ProxyCredentials? = nil) -> ProxyOption {
    switch kind {
    case .tinyproxy, .squid: .http(host: "127.0.0.1", port: port, credentials: credentials)
    case .microsocks: .socks5(host: "127.0.0.1", port: port, credentials: credentials)
    }
  }

  private func waitUntilReady() throws {
    MayBlock.check()
    let end = ContinuousClock.now + .seconds(120)
    while true {
      if let descriptor = try? LoopbackSocket.connected(to: port) {
        close(descriptor)
        return
      }
      try #require(ContinuousClock.now < end, "the proxy does not listen")
      usleep(10_000)
    }
  }

  fileprivate struct Settings {
    let folder: String
    let port: Int
    let asksForPassword: Bool

    func write(_ text: String, to name: String) throws -> String {
      let path = "\(folder)/\(name)"
      try Data(text.utf8).write(to: URL(filePath: path))
      return path
    }
  }
}

extension ForwardProxy.Kind {
  fileprivate func command(_ settings: ForwardProxy.Settings) throws -> (String, [String]) {
    switch self {
    case .tinyproxy:
      ("/usr/bin/tinyproxy", ["-d", "-c", try settings.write(settings.forTinyproxy, to: "proxy.conf")])
    case .squid:
      ("/usr/sbin/squid", ["-N", "-f", try settings.write(try settings.forSquid(), to: "proxy.conf")])
    case .microsocks:
      ("/usr/bin/microsocks", ["-i", "127.0.0.1", "-p", "\(settings.port)"] + settings.forMicrosocks)
    }
  }
}

extension ForwardProxy.Settings {
  fileprivate var forMicrosocks: [String] {
    let credentials = ForwardProxy.credentials
    return asksForPassword ? ["-u", credentials.user, "-P", credentials.password] : []
  }

  /// Its passwords cannot have spaces.
  fileprivate var forTinyproxy: String {
    """
    Port \(port)
    Listen 127.0.0.1
    Timeout 600
    MaxClients 20
    LogFile "\(folder)/log"
    \(asksForPassword ? "BasicAuth alice sesame" : "")

    """
  }

  /// It finds names in a file of its own, as it would find those that its clients cannot resolve.
  fileprivate func forSquid() throws -> String {
    let hosts = try write("127.0.0.1 localhost switchboard.test\n", to: "hosts")
    let passwords = try write("\(ForwardProxy.credentials.user):\(ForwardProxy.hash)\n", to: "passwords")
    return """
      http_port 127.0.0.1:\(port)
      hosts_file \(hosts)
      visible_hostname squid.test
      pid_filename none
      cache_log \(folder)/log
      access_log none
      cache_store_log none
      netdb_filename none
      coredump_dir \(folder)
      cache deny all
      cache_mem 8 MB
      max_filedescriptors 1024
      pinger_enable off
      shutdown_lifetime 0 seconds
      auth_param basic program /usr/lib/squid/basic_ncsa_auth \(passwords)
      auth_param basic children 1 startup=1 idle=1
      acl known proxy_auth REQUIRED
      http_access allow \(asksForPassword ? "known" : "all")
      http_access deny all

      """
  }
}

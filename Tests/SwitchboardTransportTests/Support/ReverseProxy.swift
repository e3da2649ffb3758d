import CertificateSupport
import Foundation
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport

/// A proxy from Debian's packages between a channel and a server, with Unix sockets in its own folder.
final class ReverseProxy {
  enum Kind: CaseIterable {
    case nginx, haproxy
  }

  /// How it handles TLS.
  enum Security: CaseIterable {
    case none
    /// Terminates it, and uses plaintext to the server.
    case terminated
    /// Terminates it, and uses TLS to the server.
    case terminatedAndNew
    /// Forwards TCP without looking at it.
    case passedThrough
  }

  private let kind: Kind
  private let folder: URL
  private let process: ChildProcess

  /// The target for a channel.
  var target: String { "unix:\(folder.path)/front.sock" }

  /// Forwards to a server on a Unix socket, with a timeout of `timeout` seconds for its responses.
  init(_ kind: Kind, _ security: Security = .none, upstream: SocketAddress, timeout: Double) throws {
    self.kind = kind
    folder = FileManager.default.temporaryDirectory.appending(path: "switchboard-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = folder.appending(path: "proxy.conf")
    let settings = Settings(
      folder: folder.path,
      upstream: "\(upstream)",
      milliseconds: Int(timeout * 1000),
      security: security
    )
    try Data(kind.configuration(settings).utf8).write(to: configuration)
    // HAProxy needs both in one file, and nginx accepts that too.
    let identity = [TestCertificates.serverCertificate, TestCertificates.serverKey].flatMap(\.testBytes)
    try Data(identity).write(to: folder.appending(path: "identity.pem"))
    process = try ChildProcess(
      kind.program,
      kind.arguments(configuration.path, folder.path),
      errors: .discarded
    )
  }

  deinit {
    // Terminated rather than killed, so that its workers end too.
    process.end(with: SIGTERM)
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts new workers; existing ones finish their work and tell their clients.
  func reload() { process.send(kind == .nginx ? SIGHUP : SIGUSR2) }
}

extension ReverseProxy.Kind {
  fileprivate var program: String {
    switch self {
    case .nginx: "/usr/sbin/nginx"
    case .haproxy: "/usr/sbin/haproxy"
    }
  }

  fileprivate func arguments(_ configuration: String, _ folder: String) -> [String] {
    switch self {
    case .nginx: ["-c", configuration, "-p", folder, "-e", "\(folder)/error.log"]
    case .haproxy: ["-W", "-db", "-f", configuration]
    }
  }

  fileprivate func configuration(_ settings: ReverseProxy.Settings) -> String {
    switch self {
    case .nginx: settings.forNginx
    case .haproxy: settings.forHAProxy
    }
  }
}

extension PEMSource {
  fileprivate var testBytes: [UInt8] {
    if case .bytes(let bytes) = self { bytes + [UInt8(ascii: "\n")] } else { [] }
  }
}

extension ReverseProxy {
  /// The paths and options in a proxy's configuration.
  fileprivate struct Settings {
    let folder: String
    let upstream: String
    let milliseconds: Int
    let security: Security

    /// The client uses TLS to the proxy.
    private var endsTLS: Bool { security == .terminated || security == .terminatedAndNew }

    var forNginx: String {
      """
      daemon off;
      \(getuid() == 0 ? "user root;" : "")
      worker_processes 1;
      pid \(folder)/nginx.pid;
      events {}
      http {
        access_log off;
        client_body_temp_path \(folder)/body;
        proxy_temp_path \(folder)/proxy;
        fastcgi_temp_path \(folder)/fastcgi;
        uwsgi_temp_path \(folder)/uwsgi;
        scgi_temp_path \(folder)/scgi;
        client_max_body_size 0;
        ssl_certificate \(folder)/identity.pem;
        ssl_certificate_key \(folder)/identity.pem;
        server {
          listen unix:\(folder)/front.sock \(endsTLS ? "ssl " : "")http2;
          location / {
            grpc_pass \(security == .terminatedAndNew ? "grpcs" : "grpc")://\(upstream);
            grpc_read_timeout \(milliseconds)ms;
          }
        }
      }

      """
    }

    var forHAProxy: String {
      let front = endsTLS ? "ssl crt \(folder)/identity.pem alpn h2" : isBlind ? "" : "proto h2"
      let back = security == .terminatedAndNew ? "ssl verify none alpn h2" : isBlind ? "" : "proto h2"
      return """
        defaults
          mode \(isBlind ? "tcp" : "http")
          timeout connect 2s
          timeout client 60s
          timeout server \(milliseconds)ms
        frontend front
          bind unix@\(folder)/front.sock \(front)
          default_backend back
        backend back
          server upstream unix@\(upstream.dropFirst("unix:".count)) \(back)

        """
    }

    private var isBlind: Bool { security == .passedThrough }
  }
}

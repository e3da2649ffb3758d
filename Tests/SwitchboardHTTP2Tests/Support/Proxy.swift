import Foundation
import SwitchboardCall
import TestSupport

@testable import SwitchboardHTTP2

/// A proxy from Debian's packages, between a channel and a server, on unix sockets in a folder of its own.
final class Proxy {
  enum Kind: CaseIterable {
    case nginx, haproxy
  }

  private let kind: Kind
  private let folder: URL
  private let process: ChildProcess

  /// The target for a channel.
  var target: String { "unix:\(folder.path)/front.sock" }

  /// Forwards to a server on a unix socket, and waits for `timeout` seconds for it to say something.
  init(_ kind: Kind, upstream: SocketAddress, timeout: Double) throws {
    self.kind = kind
    folder = FileManager.default.temporaryDirectory.appending(path: "switchboard-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let configuration = folder.appending(path: "proxy.conf")
    let text = kind.configuration(folder.path, upstream: "\(upstream)", milliseconds: Int(timeout * 1000))
    try Data(text.utf8).write(to: configuration)
    process = try ChildProcess(
      kind.program,
      kind.arguments(configuration.path, folder.path),
      errors: .discarded
    )
  }

  deinit {
    // Told to end rather than killed, so that it takes its workers with it.
    process.end(with: SIGTERM)
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts workers anew; those that are there are to finish what they do, and say so to their clients.
  func reload() { process.send(kind == .nginx ? SIGHUP : SIGUSR2) }
}

extension Proxy.Kind {
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

  fileprivate func configuration(_ folder: String, upstream: String, milliseconds: Int) -> String {
    switch self {
    case .nginx:
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
        server {
          listen unix:\(folder)/front.sock http2;
          location / {
            grpc_pass grpc://\(upstream);
            grpc_read_timeout \(milliseconds)ms;
          }
        }
      }

      """
    case .haproxy:
      """
      defaults
        mode http
        timeout connect 2s
        timeout client 60s
        timeout server \(milliseconds)ms
      frontend front
        bind unix@\(folder)/front.sock proto h2
        default_backend back
      backend back
        server upstream unix@\(upstream.dropFirst("unix:".count)) proto h2

      """
    }
  }
}

import SwitchboardBalancing
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// The proxy settings in the environment, interpreted as in Go's `httpproxy`, which grpc-go uses.
package struct ProxyEnvironment: Sendable {
  /// The URL of the proxy; empty for none.
  let proxy: String
  private let exceptions: ProxyExceptions

  /// `exceptions` are the targets that need no proxy, separated by commas.
  init(proxy: String = "", exceptions: String = "") {
    self.proxy = proxy
    self.exceptions = ProxyExceptions(proxy.isEmpty ? "" : exceptions)
  }

  /// The current environment of the process. A variable in capitals takes precedence, and an empty one counts as not
  /// set.
  package static var ofProcess: ProxyEnvironment {
    ProxyEnvironment(
      proxy: first("HTTPS_PROXY", "https_proxy"),
      exceptions: first("NO_PROXY", "no_proxy")
    )
  }

  private static func first(_ names: String...) -> String {
    names.lazy.compactMap { getenv($0) }.map { String(cString: $0) }.first { !$0.isEmpty } ?? ""
  }

  /// The proxy that it names; `nil` for none, or for a URL that is not one of a proxy.
  package var named: ProxyOption? { proxy.isEmpty ? nil : try? ProxyOption(proxy) }

  /// The option for the addresses of a server. If its name needs no proxy, they need none either, wherever they lead: a
  /// proxy would be given its credentials, and might not even reach them.
  package func option(_ option: ProxyOption, for serverName: String) -> ProxyOption {
    guard option == .environment, let parts = HostAndPort(serverName),
      EndpointAddress(ip: parts.host, port: parts.port) == nil,
      let name = try? ProxyDestination(name: parts.host, port: Int(parts.port)), exceptions.contain(name)
    else { return option }
    return .none
  }

  /// The proxy for a destination; `nil` for none.
  ///
  /// Throws `INVALID_ARGUMENT` if the destination needs a proxy, but the variable names an unusable one.
  func proxy(for destination: ProxyDestination) throws(GRPCStatus) -> ProxyServer? {
    guard !proxy.isEmpty, !exceptions.contain(destination) else { return nil }
    let server: ProxyServer?
    do throws(GRPCStatus) {
      server = try ProxyServer(ProxyOption(proxy))
    } catch {
      throw .invalidOption("https_proxy in the environment: \(error.message ?? "")")
    }
    guard server?.language == .http else {
      throw .invalidOption(
        "https_proxy in the environment names no HTTP proxy; ChannelOptions.proxy can name others"
      )
    }
    return server
  }
}

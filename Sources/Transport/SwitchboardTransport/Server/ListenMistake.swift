import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// What to write instead of a host and a port that a server cannot listen on.
enum ListenMistake {
  private static let onlyAddresses =
    "names are not looked up; write localhost, the numeric address of an interface, or 0.0.0.0 for all of them"
  private static let onlyPorts = "the port must be 0 to 65535, and 0 lets the system choose one"

  static func advice(_ host: String, _ port: Int) -> String {
    if host.utf8.isEmpty || host.utf8.elementsEqual("*".utf8) {
      return "for all addresses of the machine write host: \"0.0.0.0\", or \"::\" for those of IPv6"
    }
    if let path = pathOfURL(host) { return "write bind(unixPath: \"\(path)\")" }
    let parts = HostAndPort(withoutScheme(host), defaultPort: UInt16(clamping: port))
    guard let parts, parts.host.utf8.elementsEqual("localhost".utf8) || isAddress(parts.host) else {
      return onlyAddresses
    }
    guard !parts.host.utf8.elementsEqual(host.utf8) else { return onlyPorts }
    return "write bind(host: \"\(parts.host)\", port: \(parts.port))"
  }

  /// The path of a target such as `unix:/run/shop` or `unix:///run/shop`; `nil` if it is none.
  static func pathOfURL(_ text: String) -> String? {
    guard text.utf8.starts(with: "unix:".utf8) else { return nil }
    let rest = text.utf8.dropFirst("unix:".utf8.count)
    let hasHost = rest.starts(with: "//".utf8)
    return String(Substring(hasHost ? rest.dropFirst(2) : rest))
  }

  private static func isAddress(_ host: String) -> Bool { SocketAddress.numeric(host, port: 0) != nil }

  /// The host and the port of a URL.
  private static func withoutScheme(_ text: String) -> Substring {
    let slash = UInt8(ascii: "/")
    let scheme = text.utf8.indices.first { text.utf8[$0...].starts(with: "://".utf8) }
    let rest = scheme.map { text.utf8[$0...].dropFirst().drop { $0 == slash } }
    return Substring((rest ?? text.utf8[...]).prefix { $0 != slash })
  }
}

extension GRPCStatus {
  static func cannotListen(_ host: String, _ port: Int) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "cannot listen on \(host):\(port): \(ListenMistake.advice(host, port))"
    )
  }

  static func notASocket(_ path: String) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message:
        "cannot listen on unix:\(path): a file is there that is no socket; remove it, or choose another path"
    )
  }
}

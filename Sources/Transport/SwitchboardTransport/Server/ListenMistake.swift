import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork

/// What is wrong with a host and a port that a server cannot listen on.
package enum ListenMistake {
  /// No host, or a star, for all addresses of the machine.
  case all
  /// The path of a Unix socket.
  case path(String)
  /// A host and a port, written as one, or as a URL.
  case joined(host: String, port: UInt16)
  /// A name, which is not looked up.
  case name
  /// A port that there cannot be.
  case port

  package init(_ host: String, _ port: Int) {
    if host.utf8.isEmpty || host.utf8.elementsEqual("*".utf8) {
      self = .all
    } else if let path = Self.pathOfURL(host) {
      self = .path(path)
    } else if let parts = HostAndPort(Self.withoutScheme(host), defaultPort: UInt16(clamping: port)),
      parts.host.utf8.elementsEqual("localhost".utf8) || Self.isAddress(parts.host)
    {
      let isSame = parts.host.utf8.elementsEqual(host.utf8)
      self = isSame ? .port : .joined(host: parts.host, port: parts.port)
    } else {
      self = .name
    }
  }

  /// What to write instead, in a program.
  var advice: String {
    switch self {
    case .all: "for all addresses of the machine write host: \"0.0.0.0\", or \"::\" for those of IPv6"
    case .path(let path): "write bind(unixPath: \"\(path)\")"
    case .joined(let host, let port): "write bind(host: \"\(host)\", port: \(port))"
    case .name:
      "names are not looked up; write localhost, the numeric address of an interface, or 0.0.0.0 for all of them"
    case .port: "the port must be 0 to 65535, and 0 lets the system choose one"
    }
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
      message: "cannot listen on \(host):\(port): \(ListenMistake(host, port).advice)"
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

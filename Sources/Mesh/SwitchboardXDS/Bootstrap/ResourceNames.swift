import SwitchboardCall
import SwitchboardText

// Names of resources: plain texts and, for those of other owners, `xdstp:` URLs (gRFC A47).
extension XDSBootstrap {
  /// The name of the listener for a target, whose authority names the owner.
  func listenerName(for name: String, of owner: String) throws(GRPCStatus) -> String {
    guard !owner.isEmpty else { return Self.fill(listenerTemplate, with: name) }
    guard let authority = authorities.first(where: { $0.key.isExactly(owner) })?.value else {
      throw GRPCStatus(
        code: .invalidArgument,
        message:
          "the xDS bootstrap has no authority \(owner.excerpt); write xds:///NAME, with three slashes, for its own"
      )
    }
    let usual = "xdstp://\(owner)/envoy.config.listener.v3.Listener/%s"
    return Self.fill(authority.listenerTemplate ?? usual, with: name)
  }

  /// The owner in an `xdstp:` URL; `nil` for a plain name.
  static func owner(of resource: String) -> String? {
    let scheme = "xdstp://"
    guard resource.begins(with: scheme) else { return nil }
    let rest = resource.utf8.dropFirst(scheme.utf8.count)
    return String(Substring(rest.prefix { $0 != UInt8(ascii: "/") }))
  }

  /// A name with more is compared as it is written: a control plane could have a long list sorted under a lock that loops wait for.
  static let mostSortedParameters = 64

  /// The same name, with its context parameters in order if it is one of another owner: as written, their order means nothing.
  static func canonical(_ name: String) -> String {
    guard name.begins(with: "xdstp:"), let mark = name.utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return name
    }
    let rest = name.utf8[mark...].dropFirst()
    let end = rest.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
    let parameters = rest[..<end].split(separator: UInt8(ascii: "&"), maxSplits: mostSortedParameters)
    guard parameters.count <= mostSortedParameters else { return name }
    let sorted = parameters.sorted { $0.lexicographicallyPrecedes($1) }.map { String(Substring($0)) }
    return "\(name[..<mark])?\(sorted.joined(separator: "&"))\(Substring(rest[end...]))"
  }

  private static func fill(_ template: String, with name: String) -> String {
    let isURL = template.begins(with: "xdstp:")
    let value = isURL ? PercentEncoding.encode(name.utf8, except: isPlain) : Array(name.utf8)
    var filled: [UInt8] = []
    var rest = Array(template.utf8)[...]
    while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
      filled += rest[..<percent]
      if rest[percent...].starts(with: "%s".utf8) {
        filled += value
        rest = rest[(percent + 2)...]
      } else {
        filled.append(rest[percent])
        rest = rest[(percent + 1)...]
      }
    }
    return String(decoding: filled + rest, as: UTF8.self)
  }

  /// What a path of a URL may have as it is.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"): true
    default: "-._~/:@!$&'()*+,;=".utf8.contains(byte)
    }
  }
}

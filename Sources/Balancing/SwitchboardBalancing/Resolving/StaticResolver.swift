import SwitchboardCall

/// Always resolves to the same endpoints.
///
/// ```swift
/// var options = ChannelOptions()
/// options.resolvers = [StaticResolver([Endpoint([.ipv4(0x7F00_0001, port: 50051)]), Endpoint([.unix(path: "/run/greeter")])])]
/// let channel = try Channel(target: "static:///greeter.example", options: options)
/// ```
public struct StaticResolver: Resolver {
  public let schemes: [String]
  private let result: ResolverResult

  /// Resolves all targets of `scheme`. The text after the scheme is the authority of the calls.
  public init(_ endpoints: [Endpoint], scheme: String = "static", serviceConfig: ServiceConfig? = nil) {
    schemes = [scheme]
    result = ResolverResult(endpoints: endpoints, serviceConfig: .success(serviceConfig))
  }

  public var findsServiceConfigs: Bool { (try? result.serviceConfig.get()) != nil }

  public func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    updates.report(result)
    return FinishedResolution()
  }
}

/// Targets that consist of addresses: `ipv4:`, `ipv6:`, `unix:`, `unix-abstract:` and `passthrough:`.
package struct AddressResolver: Resolver {
  package let schemes = ["ipv4", "ipv6", "unix", "unix-abstract", "passthrough"]

  package var findsServiceConfigs: Bool { false }

  package init() {}

  package func serverName(of target: Target) throws(GRPCStatus) -> String {
    _ = try Self.addresses(of: target)
    return switch target.scheme {
    case "unix", "unix-abstract": "localhost"
    case "passthrough": target.endpoint
    default: String(target.endpoint.prefix { $0 != "," })
    }
  }

  package func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    do {
      let addresses = try Self.addresses(of: target)
      updates.report(ResolverResult(endpoints: addresses.map { Endpoint([$0]) }))
    } catch {
      updates.report(ResolverResult(failure: error))
    }
    return FinishedResolution()
  }

  /// Parses the addresses in a target. Throws `INVALID_ARGUMENT` if it is invalid.
  package static func addresses(of target: Target) throws(GRPCStatus) -> [EndpointAddress] {
    switch target.scheme {
    case "unix": [try unixSocket(target)]
    case "unix-abstract": [try abstractSocket(target)]
    case "passthrough": [try anyAddress(target)]
    default: try numericAddresses(target)
    }
  }

  /// Parses `unix:path`, or `unix://` with an absolute path, whose leading slash `Target` has removed.
  private static func unixSocket(_ target: Target) throws(GRPCStatus) -> EndpointAddress {
    let isAbsolute = target.text.hasPrefix("unix://")
    guard target.authority.isEmpty else {
      let path = "\(target.authority)/\(target.endpoint)"
      throw .badTarget(
        target.text,
        "it has two slashes; write \"unix:///\(path)\", or \"unix:\(path)\" for a relative path"
      )
    }
    let path = isAbsolute ? "/" + target.endpoint : target.endpoint
    // `sockaddr_un` has room for this many bytes and a final zero.
    guard (1...107).contains(path.utf8.count), !path.utf8.contains(0) else {
      throw .badTarget(target.text, "a socket's path has 1 to 107 bytes")
    }
    return .unix(path: path)
  }

  private static func abstractSocket(_ target: Target) throws(GRPCStatus) -> EndpointAddress {
    guard (1...107).contains(target.endpoint.utf8.count), target.authority.isEmpty else {
      throw .badTarget(target.text, "a socket's abstract name has 1 to 107 bytes")
    }
    return .unixAbstract(name: target.endpoint)
  }

  private static func anyAddress(_ target: Target) throws(GRPCStatus) -> EndpointAddress {
    let parts = try HostAndPort(in: target)
    return EndpointAddress(ip: parts.host, port: parts.port) ?? .name(host: parts.host, port: parts.port)
  }

  private static func numericAddresses(_ target: Target) throws(GRPCStatus) -> [EndpointAddress] {
    var addresses: [EndpointAddress] = []
    for part in target.endpoint.split(separator: ",") {
      guard let parts = HostAndPort(part), let address = EndpointAddress(ip: parts.host, port: parts.port)
      else {
        throw .badTarget(target.text, TargetHint(ofAddress: part).text)
      }
      guard address.isIPv6 == (target.scheme == "ipv6") else {
        throw .badTarget(target.text, "\(part) is not an \(target.scheme) address")
      }
      guard parts.port > 0 else { throw .badTarget(target.text, TargetHint.portOfServers) }
      addresses.append(address)
    }
    guard !addresses.isEmpty else { throw .badTarget(target.text, "there is no address") }
    return addresses
  }
}

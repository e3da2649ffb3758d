import SwitchboardBalancing
import SwitchboardNetwork
import SwitchboardProtobuf
import SwitchboardText
import SwitchboardTransport
import XDSMessages

/// What is said of the endpoints of a place, one after the other. Those of which the same is said share them.
struct EndpointTraits {
  /// Those of an endpoint of which nothing is said. Updates share them, so that what did not change is found out soon.
  private static let usual: EndpointAttributes = {
    var attributes = EndpointAttributes()
    attributes[EndpointWeight.self] = 1
    return attributes
  }()

  private var weight: UInt32 = 1
  private var host: ExactText?
  private var proxy: EndpointAddress?
  private var attributes = EndpointTraits.usual

  mutating func attributes(
    weight: UInt32,
    host: ExactText?,
    proxy: EndpointAddress?
  ) -> EndpointAttributes {
    if weight != self.weight || host != self.host || proxy != self.proxy {
      (self.weight, self.host, self.proxy) = (weight, host, proxy)
      attributes[EndpointWeight.self] = weight
      attributes[EndpointHostName.self] = host?.text
      attributes[EndpointProxy.self] = proxy
    }
    return attributes
  }
}

/// The HTTP proxy that leads to an endpoint, if its cluster wants that.
enum EndpointProxy: EndpointAttribute {
  typealias Value = EndpointAddress
}

extension Endpoint {
  /// The same server, reached by its proxy if it has one.
  var behindItsProxy: Endpoint {
    guard let proxy = attributes[EndpointProxy.self] else { return self }
    return Endpoint(addresses.map { .proxied($0, by: proxy) }, attributes: attributes)
  }
}

extension [Endpoint] {
  /// The same servers, which TLS asks for their hosts. A host that cannot be sent counts as none.
  var securedByTheirHosts: [Endpoint] {
    var changed = self
    forEachRun { attributes, run in
      guard let name = attributes[EndpointHostName.self].flatMap(ServerName.init(ofHost:)) else { return }
      for index in run {
        changed[index].addresses = self[index].addresses.map { .secured($0, as: name.text) }
      }
    }
    return changed
  }
}

extension ServerName {
  /// The name in a host, which may have a port; `nil` if it cannot be sent.
  fileprivate init?(ofHost host: String) {
    guard let name = try? ServerName(sent: HostAndPort(host)?.host ?? host) else { return nil }
    self = name
  }
}

extension Envoy_Config_Core_V3_Metadata {
  private static let proxyKey = "envoy.http11_proxy_transport_socket.proxy_address"

  /// The proxy that it names. All addresses in it must be valid, whatever they are for (gRFC A86).
  func proxy(_ path: String) throws(ResourceFault) -> EndpointAddress? {
    var proxy: EndpointAddress?
    // The order of a map is no order: of several faults, the same one is named each time.
    var first: (key: String, fault: ResourceFault)?
    for (key, packed) in typedFilterMetadata where packed.isA(Envoy_Config_Core_V3_Address.self) {
      do throws(ResourceFault) {
        let address = try packed.contents(Envoy_Config_Core_V3_Address.self).numeric()
        if key.isExactly(Self.proxyKey) { proxy = address }
      } catch {
        if first.map({ key.precedes($0.key) }) ?? true { first = (key, error) }
      }
    }
    if let first { throw first.fault.inside("\(path).typed_filter_metadata[\(first.key.excerpt)]") }
    return proxy
  }
}

extension Envoy_Config_Core_V3_Address {
  /// The address, which must be one of the internet, and no name.
  fileprivate func numeric() throws(ResourceFault) -> EndpointAddress {
    guard case .socketAddress = address else { throw ResourceFault("socket_address", "is missing") }
    let value = try value()
    if case .name(let host, _) = value {
      throw ResourceFault("socket_address.address", "is a name, and no address: \(host.excerpt)")
    }
    return value
  }
}

extension String {
  /// The longest name that DNS knows, with a colon and a port.
  private static let longestHost = 253 + 1 + 5

  /// The name of an endpoint, which must be one that `:authority` may have; `nil` for none.
  func asHost() throws(ResourceFault) -> ExactText? {
    if isEmpty { return nil }
    guard utf8.count <= Self.longestHost else {
      throw ResourceFault("", "has more than \(Self.longestHost) bytes")
    }
    guard FieldSyntax.isHost(self) else {
      throw ResourceFault("", "has characters that HTTP does not allow in a host: \(excerpt)")
    }
    return ExactText(self)
  }
}

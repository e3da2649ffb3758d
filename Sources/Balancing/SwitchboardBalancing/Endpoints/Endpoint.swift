import SwitchboardCall

/// A server that a resolver has found: its addresses, and what the resolver says about it.
///
/// ```swift
/// var endpoint = Endpoint([.ipv4(0x0A00_0001, port: 50051), .ipv4(0x0A01_0001, port: 50051)])
/// endpoint.attributes[EndpointWeight.self] = 3
/// ```
public struct Endpoint: Hashable, Sendable {
  /// The addresses of the server, all equivalent. Policies only get endpoints that have at least one.
  public var addresses: [EndpointAddress]
  /// Further information about the endpoint, for policies.
  public var attributes: EndpointAttributes

  /// An endpoint with several addresses.
  public init(_ addresses: [EndpointAddress], attributes: EndpointAttributes = EndpointAttributes()) {
    self.addresses = addresses
    self.attributes = attributes
  }
}

/// The name of an attribute of endpoints, and the type of its values.
///
/// ```swift
/// enum Zone: EndpointAttribute { typealias Value = String }
/// endpoint.attributes[Zone.self] = "eu-1"
/// ```
public protocol EndpointAttribute {
  /// The type of the values.
  associatedtype Value: Hashable & Sendable
}

/// What a resolver says about an endpoint in addition to its addresses.
public struct EndpointAttributes: Sendable {
  private struct Entry: Sendable {
    let key: ObjectIdentifier
    let value: any Hashable & Sendable
  }

  /// In the order in which they were first set. There are few, so a search is cheaper than a hash.
  private var entries: [Entry] = []

  /// No attributes.
  public init() {}

  /// The value of an attribute. `nil` where it is not set.
  public subscript<Attribute: EndpointAttribute>(_: Attribute.Type) -> Attribute.Value? {
    get {
      let key = ObjectIdentifier(Attribute.self)
      return entries.first { $0.key == key }?.value as? Attribute.Value
    }
    set {
      let key = ObjectIdentifier(Attribute.self)
      entries.removeAll { $0.key == key }
      if let newValue { entries.append(Entry(key: key, value: newValue)) }
    }
  }

  private var byKey: [ObjectIdentifier: AnyHashable] {
    Dictionary(entries.map { ($0.key, AnyHashable($0.value)) }) { $1 }
  }
}

extension EndpointAttributes: Hashable {
  public static func == (left: EndpointAttributes, right: EndpointAttributes) -> Bool {
    left.entries.isEmpty && right.entries.isEmpty || left.byKey == right.byKey
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(byKey) }
}

/// The share of the load that an endpoint takes relative to others, at least 1. Used by `ring_hash`, `weighted_target`
/// and the like.
public enum EndpointWeight: EndpointAttribute {
  /// 1 where it is not set.
  public typealias Value = UInt32
}

/// The text that `ring_hash` hashes to place an endpoint, instead of its first address.
public enum EndpointHashKey: EndpointAttribute {
  /// Any text.
  public typealias Value = String
}

/// The names of the children to which `priority` and `weighted_target` pass an endpoint, the outermost first.
public enum EndpointPath: EndpointAttribute {
  /// Each policy removes the first name and passes the rest on.
  public typealias Value = [String]
}

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

  /// Entries that copies share, until one of them changes.
  private final class Storage: Sendable {
    /// There are few, so a search is cheaper than a hash.
    let entries: [Entry]

    init(_ entries: [Entry]) { self.entries = entries }
  }

  /// `nil` without attributes.
  private var storage: Storage?

  private var entries: [Entry] { storage?.entries ?? [] }

  /// No attributes.
  public init() {}

  /// Whether both are copies of the same attributes: a quick answer, which may be `false` although they are equal. What follows from
  /// the attributes of one endpoint need not be found out again for the next, which mostly shares them.
  package func isCopy(of other: EndpointAttributes) -> Bool { storage === other.storage }

  /// The value of an attribute. `nil` where it is not set.
  public subscript<Attribute: EndpointAttribute>(_: Attribute.Type) -> Attribute.Value? {
    get {
      let key = ObjectIdentifier(Attribute.self)
      return entries.first { $0.key == key }?.value as? Attribute.Value
    }
    set {
      let key = ObjectIdentifier(Attribute.self)
      var entries = entries.filter { $0.key != key }
      if let newValue { entries.append(Entry(key: key, value: newValue)) }
      storage = entries.isEmpty ? nil : Storage(entries)
    }
  }

  private var byKey: [ObjectIdentifier: AnyHashable] {
    Dictionary(entries.map { ($0.key, AnyHashable($0.value)) }) { $1 }
  }
}

extension EndpointAttributes: Hashable {
  public static func == (left: EndpointAttributes, right: EndpointAttributes) -> Bool {
    left.isCopy(of: right) || left.entries.count == right.entries.count && left.byKey == right.byKey
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(byKey) }
}

extension [Endpoint] {
  /// Calls `body` with each run of neighbors that share their attributes, as most endpoints of a resolver do.
  package func forEachRun(_ body: (EndpointAttributes, Range<Int>) -> Void) {
    var start = 0
    while start < count {
      let attributes = self[start].attributes
      var end = start + 1
      while end < count, attributes.isCopy(of: self[end].attributes) { end += 1 }
      body(attributes, start..<end)
      start = end
    }
  }

  /// Appends some of the endpoints of a list, with other attributes.
  package mutating func append(_ part: Range<Int>, of list: [Endpoint], with attributes: EndpointAttributes) {
    reserveCapacity(count + part.count)
    for index in part { append(Endpoint(list[index].addresses, attributes: attributes)) }
  }
}

/// The share of the load that an endpoint takes relative to others, at least 1. Used by `ring_hash`, `weighted_target`
/// and the like.
public enum EndpointWeight: EndpointAttribute {
  /// 1 where it is not set.
  public typealias Value = UInt32
}

/// The host of an endpoint, possibly with a port. It is the `:authority` of calls whose route asks for that of their server, as those
/// of a [control plane](https://github.com/grpc/proposal/blob/master/A81-xds-authority-rewriting.md) may.
public enum EndpointHostName: EndpointAttribute {
  /// A name as `:authority` has it, such as `shop.example:443`.
  public typealias Value = String
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

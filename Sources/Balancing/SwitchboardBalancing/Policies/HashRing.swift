import SwitchboardCall

/// A ring of endpoint hashes. A call goes to the first endpoint at or after the call's own hash.
///
/// Each endpoint occurs several times, in proportion to its weight, at the hashes of `KEY_0`, `KEY_1` and so on. The
/// arithmetic matches gRPC's other implementations, so that all clients have the same ring.
struct HashRing {
  /// An endpoint to place.
  struct Item {
    /// The text whose hashes place the endpoint.
    let key: () -> String
    /// At least 1.
    let weight: UInt64
  }

  private var hashes: [UInt64] = []
  /// The indexes of the given items, in the order of the hashes.
  private(set) var items: [Int] = []

  init() {}

  /// Builds a ring of about `smallest` entries, so that the item with the least weight occurs a whole number of times,
  /// but with at most `largest`.
  init(_ items: [Item], smallest: Int, largest: Int) {
    guard !items.isEmpty else { return }
    let sum = Double(items.reduce(0) { $0 + $1.weight })
    let least = items.reduce(1.0) { min($0, Double($1.weight) / sum) }
    let scale = min((least * Double(smallest)).rounded(.up) / least, Double(largest))
    var entries: [(hash: UInt64, item: Int)] = []
    entries.reserveCapacity(Int(scale.rounded(.up)))
    var target = 0.0
    for (position, item) in items.enumerated() {
      target += scale * (Double(item.weight) / sum)
      guard Double(entries.count) < target else { continue }
      let prefix = item.key() + "_"
      var number = 0
      while Double(entries.count) < target {
        entries.append((XXHash64.hash(prefix + String(number)), position))
        number += 1
      }
    }
    entries.sort { $0.hash < $1.hash }
    hashes = entries.map(\.hash)
    self.items = entries.map(\.item)
  }

  /// The position of the first hash that is at least `hash`; wraps around to the first one.
  func position(of hash: UInt64) -> Int {
    var low = 0
    var count = hashes.count
    while count > 0 {
      let half = count / 2
      if hashes[low + half] < hash {
        low += half + 1
        count -= half + 1
      } else {
        count = half
      }
    }
    return low == hashes.count ? 0 : low
  }
}

extension EndpointAddress {
  /// The key of an address, as in all implementations of gRPC: a Unix domain socket has no scheme in it.
  var hashKey: String {
    switch self {
    case .unix(let path): path
    case .unixAbstract(let name): "\0" + name
    case .ipv4, .ipv6, .name: description
    // Neither the way to a server nor what TLS calls it is a part of what it is.
    case .proxied(let address, _), .secured(let address, _): address.hashKey
    }
  }
}

extension Endpoint {
  /// The key by which `ring_hash` places the endpoint.
  var hashKey: String {
    if let key = attributes[EndpointHashKey.self], !key.isEmpty { return key }
    return addresses.first?.hashKey ?? ""
  }
}

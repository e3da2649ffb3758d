import SwitchboardCall

/// Endpoints on a ring of hashes: a call goes to the first at or after its own hash.
///
/// Each endpoint is on it several times, in proportion to its weight, at the hashes of `KEY_0`, `KEY_1` and so on. The
/// arithmetic is that of gRPC's other implementations, so that all clients have the same ring.
struct HashRing {
  /// An endpoint to place.
  struct Item {
    /// What it is placed by.
    let key: () -> String
    /// At least 1.
    let weight: UInt64
  }

  private var hashes: [UInt64] = []
  /// The positions of the endpoints among the items, in the order of the hashes.
  private(set) var items: [Int] = []

  init() {}

  /// The size is about `smallest`, such that the item with the least weight occurs a whole number of times, but at most `largest`.
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

  /// The position on the ring of the first hash that is at least `hash`, or else of the first of all.
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
  /// What `ring_hash` places the address by, in all implementations of gRPC: sockets of the file system have no scheme.
  var hashKey: String {
    switch self {
    case .unix(let path): path
    case .unixAbstract(let name): "\0" + name
    case .ipv4, .ipv6, .name: description
    }
  }
}

extension Endpoint {
  /// What `ring_hash` places the endpoint by.
  var hashKey: String {
    if let key = attributes[EndpointHashKey.self], !key.isEmpty { return key }
    return addresses.first?.hashKey ?? ""
  }
}

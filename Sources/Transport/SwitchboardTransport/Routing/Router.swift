// unsafe: path bytes that the session lends for one callback

import SwitchboardCall

/// Finds the handler for a path by its bytes, in an immutable open-addressing hash table.
final class Router: Sendable {
  private let slots: [RPCMethod?]
  private let paths: [[UInt8]]
  private let mask: Int

  /// Throws if two methods have the same path.
  init(_ methods: [RPCMethod]) throws(GRPCStatus) {
    var capacity = 8
    while capacity < methods.count * 4 { capacity *= 2 }
    var slots = [RPCMethod?](repeating: nil, count: capacity)
    var paths = [[UInt8]](repeating: [], count: capacity)
    for method in methods {
      let path = method.descriptor.pathBytes
      var index = path.withUnsafeBufferPointer(Self.hash) & (capacity - 1)
      while slots[index] != nil, paths[index] != path { index = (index + 1) & (capacity - 1) }
      guard slots[index] == nil else {
        let message = "two handlers have the same path: \(method.descriptor.path)"
        throw GRPCStatus(code: .invalidArgument, message: message)
      }
      slots[index] = method
      paths[index] = path
    }
    self.slots = slots
    self.paths = paths
    mask = capacity - 1
  }

  var methods: [RPCMethod] { slots.compactMap(\.self) }

  func method(for path: UnsafeBufferPointer<UInt8>) -> RPCMethod? {
    var index = Self.hash(path) & mask
    // Three quarters of the slots are empty, so the loop ends soon.
    while let method = slots[index] {
      if paths[index].withUnsafeBufferPointer({ $0.equals(path) }) { return method }
      index = (index + 1) & mask
    }
    return nil
  }

  /// FNV-1a over the length and the last bytes, in which the methods of a service differ. An attacker gains nothing
  /// from collisions, because the table contains only the server's own paths.
  private static func hash(_ path: UnsafeBufferPointer<UInt8>) -> Int {
    var hash: UInt32 = 2_166_136_261 ^ UInt32(truncatingIfNeeded: path.count)
    for byte in path.suffix(24) { hash = (hash ^ UInt32(byte)) &* 16_777_619 }
    return Int(hash ^ hash >> 15)
  }
}

import SwitchboardCall
import SwitchboardNetwork
import Synchronization

/// The handlers of a server that run on although their calls have ended, by the addresses of the clients.
///
/// The limit of a connection does not hold them, because a client can close it and open another.
final class AbandonedHandlers: Sendable {
  private let limit: Int
  private let count = Atomic(0)
  private let isReported = Atomic(false)
  private let byAddress = Locked<[[UInt8]: Known]>([:])

  private struct Known: Sendable {
    let clients: Clients
    /// The number of connections from the address.
    var connections = 1
  }

  init(limit: Int) {
    self.limit = limit
  }

  /// The clients with the address of this one, of which a connection is one until it leaves. A network of IPv6 addresses
  /// counts as one, and so do all Unix sockets.
  func join(at address: SocketAddress?) -> Clients {
    // A socket for both families has IPv4 addresses mapped into one network of IPv6.
    let key = Array(SocketAddress.unmapped(address?.ipBytes ?? []).prefix(8))
    return byAddress.withLock { all in
      if let known = all[key] {
        all[key]?.connections += 1
        return known.clients
      }
      let clients = Clients(key, self)
      all[key] = Known(clients: clients)
      return clients
    }
  }

  /// One address may have half of them, so that it does not keep others from their calls.
  private var limitOfAddress: Int { max(1, limit / 2) }

  /// All clients with the same address.
  final class Clients: Sendable {
    private let key: [UInt8]
    private let all: AbandonedHandlers
    private let count = Atomic(0)

    fileprivate init(_ key: [UInt8], _ all: AbandonedHandlers) {
      self.key = key
      self.all = all
    }

    /// Called when a connection is no longer needed, not even by handlers of its calls.
    func leave() {
      all.byAddress.withLock { all in
        all[key]?.connections -= 1
        if all[key]?.connections == 0 { all[key] = nil }
      }
    }

    func add(_ handlers: Int) {
      count.add(handlers, ordering: .relaxed)
      all.count.add(handlers, ordering: .relaxed)
    }

    func remove(_ handlers: Int) {
      count.subtract(handlers, ordering: .relaxed)
      let left = all.count.subtract(handlers, ordering: .relaxed).newValue
      if left < all.limitOfAddress { all.isReported.store(false, ordering: .relaxed) }
    }

    /// Whether so many of their handlers run on that no call may start another.
    var haveTooMany: Bool {
      let number = all.count.load(ordering: .relaxed)
      guard number >= all.limitOfAddress else { return false }
      return number >= all.limit || count.load(ordering: .relaxed) >= all.limitOfAddress
    }

    /// Says in the log that calls are refused, and whose handlers run on, once until there is room again.
    func report(of methods: @autoclosure () -> [RPCMethod], to log: LimitedLog, on loop: Loop) {
      guard !all.isReported.exchange(true, ordering: .relaxed) else { return }
      let counts = methods().compactMap { method in
        let count = method.inAllFormats.reduce(0) { $0 + $1.abandoned.current }
        return count > 0 ? (method.descriptor.path, count) : nil
      }
      log.log(
        [
          "handlers": "\(all.count.load(ordering: .relaxed))", "maxAbandonedHandlers": "\(all.limit)",
          "methods": CutOffCalls.list(counts),
        ],
        on: loop
      )
    }
  }
}

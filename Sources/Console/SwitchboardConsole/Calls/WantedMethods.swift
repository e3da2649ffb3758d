import SwitchboardCall

/// Which methods a query includes, found once for each, since an event loop asks it for every call.
final class WantedMethods: Sendable {
  /// Methods are kept with the answer, so that no other takes the identity of one.
  private let known = Locked<[ObjectIdentifier: (method: MethodDescriptor, isWanted: Bool)]>([:])
  private let includes: @Sendable (_ name: String) -> Bool

  /// The most methods that are kept. A program may make any number of them.
  static let mostKept = 1000

  init(_ includes: @escaping @Sendable (_ name: String) -> Bool) { self.includes = includes }

  var keptCount: Int { known.withLock(\.count) }

  func include(_ method: MethodDescriptor) -> Bool {
    let id = ObjectIdentifier(method)
    if let known = known.withLock({ $0[id]?.isWanted }) { return known }
    let isWanted = includes(String(method.path.dropFirst()))
    known.withLock { known in
      if known.count >= Self.mostKept { known = [:] }
      known[id] = (method, isWanted)
    }
    return isWanted
  }
}

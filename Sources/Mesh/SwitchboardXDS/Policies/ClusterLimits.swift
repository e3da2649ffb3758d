import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText

/// What keeps calls from the servers of a cluster: shares that are dropped, and the most calls at once (gRFC A32), of all channels of
/// the process together.
///
/// An object: a pick may connect to a server, whose policy lets calls that wait pick again within it.
final class ClusterLimits {
  private var drops: [EndpointsResource.Drop] = []
  private var random: QuickRandom
  private var limit = ClusterResource.usualMaxRequests
  private var counter = CallCounter()

  init(seed: UInt64) { random = QuickRandom(seed: seed) }

  func update(_ leaf: LeafConfig) {
    drops = leaf.endpoints?.drops.filter { $0.millionths > 0 } ?? []
    limit = leaf.cluster.maxRequests
    counter = CallCounters.ofProcess.counter(leaf.cluster.name, leaf.cluster.service)
  }

  /// `load` counts calls that are dropped.
  func pick(_ call: any CallToPick, _ picker: any Picker, _ load: ClusterLoad?) -> Pick {
    // A call that waits is picked for again: it must not be dropped more often for that.
    if let constant = picker as? ConstantPicker, constant.waits { return .wait }
    for drop in drops where call.mayBeDropped && random.next(below: 1_000_000) < drop.millionths {
      load?.dropped(drop.category)
      return .drop(.dropped(drop.category))
    }
    guard counter.hasRoom(below: limit) else {
      load?.dropped(nil)
      return .drop(.tooManyCalls(limit))
    }
    call.passedDrops()
    let pick = picker.pick(call)
    guard case .subchannel(let subchannel, let tracker) = pick else { return pick }
    return .subchannel(subchannel, tracker: counter.track(tracker))
  }
}

extension CallToPick {
  /// A call of a session may wait for its server under any picker.
  fileprivate var mayBeDropped: Bool { !((route?.session as? CookieSession)?.hasPassedDrops ?? false) }

  fileprivate func passedDrops() { (route?.session as? CookieSession)?.passDrops() }
}

extension GRPCStatus {
  fileprivate static func dropped(_ category: String) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message: "the control plane has calls dropped: \(category.excerpt)",
      origin: .library
    )
  }

  fileprivate static func tooManyCalls(_ limit: Int) -> GRPCStatus {
    GRPCStatus(
      code: .unavailable,
      message: "the cluster has as many calls as the control plane allows: \(limit)",
      origin: .library
    )
  }
}

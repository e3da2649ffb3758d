import SwitchboardCall
import SwitchboardNetwork

/// Sees from any thread what a loop does now, without stopping it.
package struct LoopProbe: Sendable {
  /// Names the loop, which may serve others, too.
  package let id: ObjectIdentifier
  private let activity: LoopActivity

  fileprivate init(_ loop: Loop) {
    id = ObjectIdentifier(loop)
    activity = loop.activity
  }

  package var sight: LoopActivity.Sight { activity.sight }
}

extension Server {
  /// One for each of its loops.
  package var probes: [LoopProbe] { core.group.loops.map { LoopProbe($0) } }

  /// The paths of its methods, by the numbers that loops know them by.
  package var methodPaths: [UInt: String] {
    let all = core.router.methods.flatMap(\.inAllFormats).map { ($0.number, $0.descriptor.path) }
    return Dictionary(all) { first, _ in first }
  }
}

extension Channel {
  /// One for its loop; `nil` for a channel without connections of its own.
  package var probe: LoopProbe? { (transport as? HTTP2ClientTransport).map { LoopProbe($0.loop) } }

  /// The path of a method that a channel of the process calls, by the number that loops know it by.
  package static func pathOfCalled(_ number: UInt) -> String? { CallbackBlocks.path(of: number) }
}

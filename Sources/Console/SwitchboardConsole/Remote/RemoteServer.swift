import SwitchboardCall
import SwitchboardDynamic
import SwitchboardServices
import SwitchboardText
import SwitchboardTransport

/// A server of another process, of which is known what it tells itself: by reflection, health checks and channelz.
package struct RemoteServer: Sendable {
  let channel: Channel
  let peer: any ReflectionPeer
  /// Where other programs can call it.
  let reach: CallReach

  package init(_ channel: Channel, _ peer: any ReflectionPeer, address: String, usesTLS: Bool) {
    self.channel = channel
    self.peer = peer
    reach = CallReach(address: address, usesTLS: usesTLS)
  }

  /// The most connections of a server whose figures are read. Each takes a query.
  private static let mostSockets = 50

  /// How long all that a view asks it for may take. What it has answered by then is shown.
  static let patience = Duration.seconds(3)

  var channelz: ChannelzReader {
    let longest = KeptCall.longestAddress
    return ChannelzReader(channel, peer.metadata, mostSockets: Self.mostSockets, longestText: longest)
  }

  /// What is said if it takes longer.
  var slowness: String { "\(peer.text) does not answer within \(Self.patience.components.seconds) s" }

  /// Why there is nothing of channelz.
  func reason(_ error: any Error) -> String {
    if Task.isCancelled { return slowness }
    guard let status = error as? GRPCStatus else { return "\(peer.text): \("\(error)".excerpt(400))" }
    if peer.lacksMethod(status) {
      return "\(peer.text) has no channelz service, so that neither its calls nor its connections are known"
    }
    let text = status.message.map { ": \($0.excerpt(400))" } ?? ""
    return "\(peer.text) does not answer: \(status.code.specName)\(text)"
  }
}

import SwitchboardCall
import SwitchboardDynamic
import SwitchboardServices
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

  var channelz: ChannelzReader { ChannelzReader(channel, peer.metadata, mostSockets: Self.mostSockets) }

  /// Why there is nothing of channelz.
  func reason(_ error: any Error) -> String {
    guard let status = error as? GRPCStatus else { return "\(peer.text): \(error)" }
    if peer.lacksMethod(status) {
      return "\(peer.text) has no channelz service, so that neither its calls nor its connections are known"
    }
    let text = status.message.map { ": \($0)" } ?? ""
    return "\(peer.text) does not answer: \(status.code.specName)\(text)"
  }
}

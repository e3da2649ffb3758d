import SwitchboardCall
import SwitchboardServices
import SwitchboardTransport

/// The servers and channels that a console shows.
final class ConsoleEntries: Sendable {
  private let entries = Locked(ChannelzEntries())

  func add(_ server: Server, _ name: String) {
    entries.withLock { $0.add(ChannelzEntries.Weak(server, name)) }
  }

  func add(_ channel: Channel, _ name: String) {
    guard channel.hasSnapshot else { return }
    entries.withLock { $0.add(ChannelzEntries.Weak(channel, name)) }
  }

  /// Whether any was ever added.
  var wasFilled: Bool { entries.withLock(\.wasFilled) }
  var servers: [ChannelzEntries.KnownServer] { entries.withLock { $0.servers } }
  var channels: [ChannelzEntries.KnownChannel] { entries.withLock { $0.channels } }
}

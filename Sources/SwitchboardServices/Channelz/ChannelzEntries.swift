import Switchboard

/// The servers and channels that a service describes, in the order in which they were added.
struct ChannelzEntries {
  /// A weak reference to a server.
  struct WeakServer: Sendable {
    fileprivate weak var server: Server?
    fileprivate let name: String

    init(_ server: Server, _ name: String) {
      self.server = server
      self.name = name
    }
  }

  /// A weak reference to a channel.
  struct WeakChannel: Sendable {
    fileprivate weak var channel: Channel?
    fileprivate let name: String

    init(_ channel: Channel, _ name: String) {
      self.channel = channel
      self.name = name
    }
  }

  struct KnownServer: Sendable {
    let id: Int64
    let name: String
    let server: Server
  }

  struct KnownChannel: Sendable {
    let id: Int64
    let name: String
    let channel: Channel
  }

  private var weakServers: [(id: Int64, entry: WeakServer)] = []
  private var weakChannels: [(id: Int64, entry: WeakChannel)] = []
  private var lastID: Int64 = 0

  mutating func add(_ server: WeakServer) {
    guard !weakServers.contains(where: { $0.entry.server === server.server }) else { return }
    lastID += 1
    weakServers.append((lastID, server))
    removeReleased()
  }

  mutating func add(_ channel: WeakChannel) {
    guard !weakChannels.contains(where: { $0.entry.channel === channel.channel }) else { return }
    lastID += 1
    weakChannels.append((lastID, channel))
    removeReleased()
  }

  private mutating func removeReleased() {
    weakServers.removeAll { $0.entry.server == nil }
    weakChannels.removeAll { $0.entry.channel == nil }
  }

  /// The servers that still exist.
  var servers: [KnownServer] {
    weakServers.compactMap { id, entry in
      entry.server.map { KnownServer(id: id, name: entry.name, server: $0) }
    }
  }

  /// The channels that still exist.
  var channels: [KnownChannel] {
    weakChannels.compactMap { id, entry in
      entry.channel.map { KnownChannel(id: id, name: entry.name, channel: $0) }
    }
  }
}

/// IDs encode what they identify, so no table of IDs is necessary. Servers and channels are numbered from 1. The ID of
/// something that belongs to one of them has the owner's ID in the upper bits and its own number in the lower bits.
extension Int64 {
  private static let placeBits: Int64 = 40
  var owner: Int64 { self >> Self.placeBits }
  var place: Int64 { self & (1 << Self.placeBits - 1) }

  func child(_ place: Int64) -> Int64 { self << Self.placeBits | place }
}

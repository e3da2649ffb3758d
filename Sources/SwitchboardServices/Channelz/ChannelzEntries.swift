import Switchboard

/// The servers and channels that a service tells of, in the order in which it was told of them.
struct ChannelzEntries {
  /// Not to be kept alive.
  struct WeakServer: Sendable {
    fileprivate weak var server: Server?
    fileprivate let name: String

    init(_ server: Server, _ name: String) {
      self.server = server
      self.name = name
    }
  }

  /// Not to be kept alive.
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
    forgetGone()
  }

  mutating func add(_ channel: WeakChannel) {
    guard !weakChannels.contains(where: { $0.entry.channel === channel.channel }) else { return }
    lastID += 1
    weakChannels.append((lastID, channel))
    forgetGone()
  }

  private mutating func forgetGone() {
    weakServers.removeAll { $0.entry.server == nil }
    weakChannels.removeAll { $0.entry.channel == nil }
  }

  /// Those that are still there.
  var servers: [KnownServer] {
    weakServers.compactMap { id, entry in
      entry.server.map { KnownServer(id: id, name: entry.name, server: $0) }
    }
  }

  /// Those that are still there.
  var channels: [KnownChannel] {
    weakChannels.compactMap { id, entry in
      entry.channel.map { KnownChannel(id: id, name: entry.name, channel: $0) }
    }
  }
}

/// An id says what it is of, so that none has to be remembered: servers and channels are counted from 1, and what
/// belongs to one has its id in the upper bits and its own number, its place, in the lower ones.
extension Int64 {
  private static let placeBits: Int64 = 40
  /// That of a channel's only subchannel. Connections and listeners are counted from 1.
  static let subchannelPlace: Int64 = 0

  var owner: Int64 { self >> Self.placeBits }
  var place: Int64 { self & (1 << Self.placeBits - 1) }

  func child(_ place: Int64) -> Int64 { self << Self.placeBits | place }
}

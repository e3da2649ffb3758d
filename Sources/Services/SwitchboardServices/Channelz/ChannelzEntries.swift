import Switchboard

/// The servers and channels that a service describes, in the order in which they were added.
package struct ChannelzEntries: Sendable {
  /// A weak reference to a server or a channel.
  package struct Weak<Entity: AnyObject & Sendable>: Sendable {
    fileprivate weak var entity: Entity?
    fileprivate let name: String

    package init(_ entity: Entity, _ name: String) {
      self.entity = entity
      self.name = name
    }
  }

  package struct KnownServer: Sendable {
    package let id: Int64
    package let name: String
    package let server: Server
  }

  package struct KnownChannel: Sendable {
    package let id: Int64
    package let name: String
    package let channel: Channel
  }

  private var weakServers: [(id: Int64, entry: Weak<Server>)] = []
  private var weakChannels: [(id: Int64, entry: Weak<Channel>)] = []
  private var lastID: Int64 = 0

  package init() {}

  /// Whether a server or a channel was ever added.
  package var wasFilled: Bool { lastID > 0 }

  package mutating func add(_ server: Weak<Server>) { add(server, to: \.weakServers) }

  package mutating func add(_ channel: Weak<Channel>) { add(channel, to: \.weakChannels) }

  /// Adds an entry unless it is known, and removes those that were released.
  private mutating func add<Entity>(
    _ entry: Weak<Entity>,
    to entries: WritableKeyPath<Self, [(id: Int64, entry: Weak<Entity>)]>
  ) {
    guard !self[keyPath: entries].contains(where: { $0.entry.entity === entry.entity }) else { return }
    lastID += 1
    self[keyPath: entries].append((lastID, entry))
    weakServers.removeAll { $0.entry.entity == nil }
    weakChannels.removeAll { $0.entry.entity == nil }
  }

  /// The servers that still exist.
  package var servers: [KnownServer] {
    weakServers.compactMap { id, entry in
      entry.entity.map { KnownServer(id: id, name: entry.name, server: $0) }
    }
  }

  /// The channels that still exist.
  package var channels: [KnownChannel] {
    weakChannels.compactMap { id, entry in
      entry.entity.map { KnownChannel(id: id, name: entry.name, channel: $0) }
    }
  }
}

/// IDs encode what they identify, so no table of IDs is necessary. Servers and channels are numbered from 1. The ID of
/// something that belongs to one of them has the owner's ID in the upper bits and its own number in the lower bits.
extension Int64 {
  private static let numberBits: Int64 = 40
  var owner: Int64 { self >> Self.numberBits }
  var number: Int64 { self & (1 << Self.numberBits - 1) }

  func child(_ number: Int64) -> Int64 { self << Self.numberBits | number }
}

import Switchboard
import SwitchboardServiceMessages

/// The state that channelz reported at one moment.
package struct ChannelzInventory: Sendable {
  package let time: ContinuousClock.Instant
  package var servers: [Grpc_Channelz_V1_Server] = []
  package var channels: [Grpc_Channelz_V1_Channel] = []
  /// The sockets of each server.
  package var serverSockets: [Int64: [Grpc_Channelz_V1_SocketRef]] = [:]
  package var subchannels: [Int64: Grpc_Channelz_V1_Subchannel] = [:]
  package var nested: [Int64: Grpc_Channelz_V1_Channel] = [:]
  package var sockets: [Int64: Grpc_Channelz_V1_Socket] = [:]
  /// How many entries were left out because there are too many to show.
  package var left = 0
  /// How many queries were sent.
  fileprivate(set) var queryCount = 0
}

/// Reads everything that channelz reports, within limits, because the server determines how much that is. If its task is
/// cancelled, `read` returns what it has read by then.
package struct ChannelzReader: Sendable {
  private static let mostEntries = 500
  /// The most queries. An entry may refer to any number of others, and each costs a query.
  private static let maxQueries = 3000
  private let client: Grpc_Channelz_V1_ChannelzClient
  private let mostSockets: Int
  private let trim: ChannelzTrim

  /// `mostSockets`: of each server. `metadata` is that of each query. With `longestText`, entries have names of so many
  /// characters, none of which are controls, and nothing but their names, their states and what they count.
  package init(_ channel: Channel, _ metadata: HPACKHeaders, mostSockets: Int, longestText: Int? = nil) {
    self.mostSockets = mostSockets
    trim = ChannelzTrim(mostEntries: Self.mostEntries, longestText: longestText)
    client = Grpc_Channelz_V1_ChannelzClient(
      channel: channel,
      defaultCallOptions: CallOptions.with {
        $0.initialMetadata = metadata
        $0.timeout = .seconds(10)
      }
    )
  }

  /// Reads the servers and the channels, without what is below them.
  package func readTop() async throws -> ChannelzInventory {
    var inventory = ChannelzInventory(time: .now)
    let servers = try await client.getServers(.with { $0.maxResults = Int64(Self.mostEntries) })
    inventory.servers = servers.server.prefix(Self.mostEntries).map(trim.server)
    if !servers.end { inventory.left += 1 }
    let channels = try await client.getTopChannels(.with { $0.maxResults = Int64(Self.mostEntries) })
    inventory.channels = channels.channel.prefix(Self.mostEntries).map(trim.channel)
    if !channels.end { inventory.left += 1 }
    return inventory
  }

  package func read() async throws -> ChannelzInventory {
    var inventory = try await readTop()
    for server in inventory.servers where inventory.queryCount < Self.maxQueries && !Task.isCancelled {
      inventory.queryCount += 1
      let id = server.ref.serverID
      let answer = try? await client.getServerSockets(
        .with {
          $0.serverID = id
          $0.maxResults = Int64(mostSockets)
        }
      )
      guard let answer, mostSockets > 0 else { continue }
      inventory.serverSockets[id] = trim.sockets(answer.socketRef, mostSockets)
      if !answer.end { inventory.left += 1 }
      for ref in inventory.serverSockets[id] ?? [] { await read(socket: ref, into: &inventory) }
    }
    for channel in inventory.channels {
      await read(below: channel.channelRef, channel.subchannelRef, channel.socketRef, into: &inventory)
    }
    if Task.isCancelled { inventory.left += 1 }
    return inventory
  }

  /// Reads the children of a channel. Entries that disappear in the meantime are left out.
  private func read(
    below channels: [Grpc_Channelz_V1_ChannelRef],
    _ subchannels: [Grpc_Channelz_V1_SubchannelRef],
    _ sockets: [Grpc_Channelz_V1_SocketRef],
    into inventory: inout ChannelzInventory
  ) async {
    // Each entry is read once, so cyclic references end here.
    var (channels, subchannels, sockets) = (channels, subchannels, sockets)
    func queue(below entry: some ChannelzParent) {
      channels += entry.channelRef
      subchannels += entry.subchannelRef
      sockets += entry.socketRef
    }
    while inventory.queryCount < Self.maxQueries, !Task.isCancelled {
      if let ref = channels.popLast() {
        guard inventory.nested.count < Self.mostEntries, inventory.nested[ref.channelID] == nil else {
          continue
        }
        inventory.queryCount += 1
        guard let found = try? await client.getChannel(.with { $0.channelID = ref.channelID }).channel
        else { continue }
        let channel = trim.channel(found)
        inventory.nested[ref.channelID] = channel
        queue(below: channel)
      } else if let ref = subchannels.popLast() {
        guard inventory.subchannels.count < Self.mostEntries, inventory.subchannels[ref.subchannelID] == nil
        else { continue }
        inventory.queryCount += 1
        guard
          let found = try? await client.getSubchannel(.with { $0.subchannelID = ref.subchannelID }).subchannel
        else { continue }
        let subchannel = trim.subchannel(found)
        inventory.subchannels[ref.subchannelID] = subchannel
        queue(below: subchannel)
      } else if let ref = sockets.popLast() {
        await read(socket: ref, into: &inventory)
      } else {
        return
      }
    }
  }

  private func read(socket ref: Grpc_Channelz_V1_SocketRef, into inventory: inout ChannelzInventory) async {
    guard inventory.sockets.count < Self.mostEntries, inventory.sockets[ref.socketID] == nil,
      inventory.queryCount < Self.maxQueries, !Task.isCancelled
    else { return }
    inventory.queryCount += 1
    let answer = try? await client.getSocket(
      .with {
        $0.socketID = ref.socketID
        $0.summary = true
      }
    )
    if let answer { inventory.sockets[ref.socketID] = trim.socket(answer.socket) }
  }
}

/// An entry with others below it.
private protocol ChannelzParent {
  var channelRef: [Grpc_Channelz_V1_ChannelRef] { get }
  var subchannelRef: [Grpc_Channelz_V1_SubchannelRef] { get }
  var socketRef: [Grpc_Channelz_V1_SocketRef] { get }
}

extension Grpc_Channelz_V1_Channel: ChannelzParent {}
extension Grpc_Channelz_V1_Subchannel: ChannelzParent {}

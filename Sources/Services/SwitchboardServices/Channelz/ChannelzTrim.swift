import SwitchboardServiceMessages
import SwitchboardText

/// How much is kept of an entry. The server determines how many others each refers to, how long their names are, and what else
/// they have.
struct ChannelzTrim: Sendable {
  let mostEntries: Int
  /// The most characters of a name, if only names, states and counts are kept.
  let longestText: Int?

  /// The most sockets that an entry is kept with, if only names are.
  private static let mostSockets = 50

  func server(_ server: Grpc_Channelz_V1_Server) -> Grpc_Channelz_V1_Server {
    guard let longestText else {
      var trimmed = server
      trimmed.listenSocket = Array(server.listenSocket.prefix(mostEntries))
      return trimmed
    }
    return .with {
      $0.ref.serverID = server.ref.serverID
      $0.ref.name = server.ref.name.excerpt(longestText)
      $0.data.callsStarted = server.data.callsStarted
      $0.data.callsSucceeded = server.data.callsSucceeded
      $0.data.callsFailed = server.data.callsFailed
      $0.listenSocket = sockets(server.listenSocket, Self.mostSockets)
    }
  }

  func channel(_ channel: Grpc_Channelz_V1_Channel) -> Grpc_Channelz_V1_Channel {
    .with {
      $0.ref = channel.ref
      $0.data = channel.data
      if let longestText {
        $0.ref = .with { $0.channelID = channel.ref.channelID }
        $0.ref.name = channel.ref.name.excerpt(longestText)
        $0.data = data(channel.data, longestText)
      }
      $0.channelRef = channels(channel.channelRef)
      $0.subchannelRef = subchannels(channel.subchannelRef)
      $0.socketRef = sockets(channel.socketRef, longestText == nil ? mostEntries : Self.mostSockets)
    }
  }

  func subchannel(_ subchannel: Grpc_Channelz_V1_Subchannel) -> Grpc_Channelz_V1_Subchannel {
    .with {
      $0.ref = subchannel.ref
      $0.data = subchannel.data
      if let longestText {
        $0.ref = .with { $0.subchannelID = subchannel.ref.subchannelID }
        $0.ref.name = subchannel.ref.name.excerpt(longestText)
        $0.data = data(subchannel.data, longestText)
      }
      $0.channelRef = channels(subchannel.channelRef)
      $0.subchannelRef = subchannels(subchannel.subchannelRef)
      $0.socketRef = sockets(subchannel.socketRef, longestText == nil ? mostEntries : Self.mostSockets)
    }
  }

  func socket(_ socket: Grpc_Channelz_V1_Socket) -> Grpc_Channelz_V1_Socket {
    guard let longestText else { return socket }
    return .with {
      $0.ref.socketID = socket.ref.socketID
      $0.ref.name = socket.ref.name.excerpt(longestText)
      $0.data = data(socket.data)
      if case .tls(let tls)? = socket.security.model {
        $0.security.tls.standardName = tls.standardName.excerpt(longestText)
      }
    }
  }

  func sockets(_ refs: [Grpc_Channelz_V1_SocketRef], _ most: Int) -> [Grpc_Channelz_V1_SocketRef] {
    guard let longestText else { return Array(refs.prefix(most)) }
    return refs.prefix(most).map { ref in
      .with { ($0.socketID, $0.name) = (ref.socketID, ref.name.excerpt(longestText)) }
    }
  }

  private func channels(_ refs: [Grpc_Channelz_V1_ChannelRef]) -> [Grpc_Channelz_V1_ChannelRef] {
    guard longestText != nil else { return Array(refs.prefix(mostEntries)) }
    return refs.prefix(mostEntries).map { ref in .with { $0.channelID = ref.channelID } }
  }

  private func subchannels(_ refs: [Grpc_Channelz_V1_SubchannelRef]) -> [Grpc_Channelz_V1_SubchannelRef] {
    guard longestText != nil else { return Array(refs.prefix(mostEntries)) }
    return refs.prefix(mostEntries).map { ref in .with { $0.subchannelID = ref.subchannelID } }
  }

  private func data(_ data: Grpc_Channelz_V1_SocketData) -> Grpc_Channelz_V1_SocketData {
    .with {
      $0.streamsStarted = data.streamsStarted
      $0.streamsFailed = data.streamsFailed
      $0.messagesSent = data.messagesSent
      $0.messagesReceived = data.messagesReceived
      $0.keepAlivesSent = data.keepAlivesSent
      if data.hasLocalFlowControlWindow {
        $0.localFlowControlWindow.value = data.localFlowControlWindow.value
      }
      if data.hasRemoteFlowControlWindow {
        $0.remoteFlowControlWindow.value = data.remoteFlowControlWindow.value
      }
    }
  }

  private func data(_ data: Grpc_Channelz_V1_ChannelData, _ longestText: Int) -> Grpc_Channelz_V1_ChannelData
  {
    .with {
      $0.state.state = data.state.state
      $0.target = data.target.excerpt(longestText)
      $0.callsStarted = data.callsStarted
      $0.callsSucceeded = data.callsSucceeded
      $0.callsFailed = data.callsFailed
    }
  }
}

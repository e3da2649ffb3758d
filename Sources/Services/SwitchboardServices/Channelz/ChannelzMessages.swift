import Switchboard
import SwitchboardProtobuf
import SwitchboardServiceMessages

extension Int64 {
  /// A connection or a listener of the server or channel with this ID.
  func socket(_ number: Int, named name: String) -> Grpc_Channelz_V1_SocketRef {
    .with {
      $0.socketID = child(Int64(number))
      $0.name = name
    }
  }
}

extension ChannelzEntries.KnownServer {
  func described() async -> Grpc_Channelz_V1_Server {
    let snapshot = await server.snapshot()
    let calls = snapshot.calls
    return .with {
      $0.ref.serverID = id
      $0.ref.name = name
      $0.data.callsStarted = Int64(calls.started)
      $0.data.callsSucceeded = Int64(calls.succeeded)
      $0.data.callsFailed = Int64(calls.failed)
      if let time = calls.lastStarted {
        $0.data.lastCallStartedTimestamp = Google_Protobuf_Timestamp(at: time)
      }
      $0.listenSocket = snapshot.listeners.map { id.socket($0.number, named: "\($0.address)") }
    }
  }
}

extension ChannelzEntries.KnownChannel {
  private func reference(_ subchannel: SubchannelSnapshot) -> Grpc_Channelz_V1_SubchannelRef {
    .with {
      $0.subchannelID = id.child(Int64(subchannel.number))
      $0.name = subchannel.target
    }
  }

  func described() async -> Grpc_Channelz_V1_Channel? {
    guard let snapshot = await channel.snapshot() else { return nil }
    return .with {
      $0.ref.channelID = id
      $0.ref.name = name
      $0.data = Grpc_Channelz_V1_ChannelData(snapshot)
      $0.subchannelRef = snapshot.subchannels.map(reference)
    }
  }

  /// `nil` if the subchannel with this number no longer exists.
  func describedSubchannel(_ number: Int64) async -> Grpc_Channelz_V1_Subchannel? {
    let subchannels = await channel.snapshot()?.subchannels ?? []
    guard let snapshot = subchannels.first(where: { Int64($0.number) == number }) else { return nil }
    return .with {
      $0.ref = reference(snapshot)
      $0.data = Grpc_Channelz_V1_ChannelData(snapshot)
      $0.socketRef = snapshot.connections.map { id.socket($0.number, named: $0.name) }
    }
  }
}

extension Grpc_Channelz_V1_ChannelData {
  init(_ snapshot: ChannelSnapshot) {
    self.init(snapshot.target, snapshot.state, snapshot.calls)
    maxConnectionsPerSubchannel = UInt32(clamping: snapshot.maxConnections)
    trace = Grpc_Channelz_V1_ChannelTrace(snapshot.trace)
  }

  init(_ snapshot: SubchannelSnapshot) {
    self.init(snapshot.target, snapshot.state, snapshot.calls)
  }

  private init(_ target: String, _ connectivity: ConnectivityState, _ calls: CallCounts) {
    self.init()
    state.state = Grpc_Channelz_V1_ChannelConnectivityState.State(connectivity)
    self.target = target
    callsStarted = Int64(calls.started)
    callsSucceeded = Int64(calls.succeeded)
    callsFailed = Int64(calls.failed)
    if let time = calls.lastStarted { lastCallStartedTimestamp = Google_Protobuf_Timestamp(at: time) }
  }
}

extension Grpc_Channelz_V1_ChannelTrace {
  fileprivate init(_ trace: ChannelTrace) {
    self.init()
    numEventsLogged = Int64(trace.eventCount)
    creationTimestamp = Google_Protobuf_Timestamp(at: trace.created)
    events = trace.events.map { event in
      .with {
        $0.description_p = event.description
        $0.severity = event.isWarning ? .ctWarning : .ctInfo
        $0.timestamp = Google_Protobuf_Timestamp(at: event.time)
      }
    }
  }
}

extension Grpc_Channelz_V1_ChannelConnectivityState.State {
  fileprivate init(_ state: ConnectivityState) {
    switch state {
    case .idle: self = .idle
    case .connecting: self = .connecting
    case .ready: self = .ready
    case .transientFailure: self = .transientFailure
    case .shutdown: self = .shutdown
    }
  }
}

extension Google_Protobuf_Timestamp {
  /// Converts an instant of the monotonic clock to a date.
  init(at moment: ContinuousClock.Instant) {
    self = .now() - Google_Protobuf_Duration(moment.duration(to: .now))
  }
}

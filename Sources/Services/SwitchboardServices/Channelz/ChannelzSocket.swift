import Switchboard
import SwitchboardProtobuf
import SwitchboardServiceMessages

extension Grpc_Channelz_V1_Socket {
  /// A connection. A summary omits what is expensive to compute.
  init(_ snapshot: ConnectionSnapshot, of owner: Int64, isSummary: Bool) {
    self.init()
    ref = owner.socket(snapshot.reference.number, named: snapshot.reference.name)
    data = Grpc_Channelz_V1_SocketData(snapshot)
    if let address = snapshot.localAddress { local = Grpc_Channelz_V1_Address(address) }
    if let address = snapshot.remoteAddress { remote = Grpc_Channelz_V1_Address(address) }
    guard let found = snapshot.security, !isSummary else { return }
    security.tls = .with {
      $0.standardName = found.cipherSuite
      $0.localCertificate = found.localCertificate
      $0.remoteCertificate = found.remoteCertificate
    }
  }

  init(_ listener: ServerSnapshot.ListenerReference, of owner: Int64) {
    self.init()
    ref = owner.socket(listener.number, named: "\(listener.address)")
    local = Grpc_Channelz_V1_Address(listener.address)
  }
}

extension Grpc_Channelz_V1_SocketData {
  fileprivate init(_ snapshot: ConnectionSnapshot) {
    self.init()
    streamsStarted = Int64(snapshot.streamsStarted)
    streamsSucceeded = Int64(snapshot.streamsSucceeded)
    streamsFailed = Int64(snapshot.streamsFailed)
    messagesSent = Int64(snapshot.messagesSent)
    messagesReceived = Int64(snapshot.messagesReceived)
    keepAlivesSent = Int64(snapshot.keepalivesSent)
    addTimes(snapshot)
    guard let http2 = snapshot.http2 else { return }
    localFlowControlWindow.value = Int64(http2.sendWindow)
    remoteFlowControlWindow.value = Int64(http2.receiveWindow)
    if let error = http2.goAwayError { receivedGoawayError.value = error }
    peerMaxConcurrentStreams = UInt32(clamping: http2.peerMaxConcurrentStreams)
  }

  private mutating func addTimes(_ snapshot: ConnectionSnapshot) {
    if let time = snapshot.lastStreamStarted {
      let date = Google_Protobuf_Timestamp(at: time)
      // Clients open the streams of a connection; servers open none.
      if snapshot.isServer {
        lastRemoteStreamCreatedTimestamp = date
      } else {
        lastLocalStreamCreatedTimestamp = date
      }
    }
    if let time = snapshot.lastMessageSent { lastMessageSentTimestamp = Google_Protobuf_Timestamp(at: time) }
    if let time = snapshot.lastMessageReceived {
      lastMessageReceivedTimestamp = Google_Protobuf_Timestamp(at: time)
    }
  }
}

extension Grpc_Channelz_V1_Address {
  fileprivate init(_ address: SocketAddress) {
    self.init()
    if let bytes = address.ipBytes {
      tcpipAddress = .with {
        $0.ipAddress = bytes
        $0.port = Int32(clamping: address.port)
      }
    } else {
      udsAddress = .with { $0.filename = address.host }
    }
  }
}

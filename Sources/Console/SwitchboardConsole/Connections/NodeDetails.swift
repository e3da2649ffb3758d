import ConsoleMessages
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardProtobuf
import SwitchboardTransport

/// Collects what is known of a line, property by property.
struct NodeDetails: Sendable {
  private(set) var detail = Switchboard_Console_V1_NodeDetail()

  init(_ id: NodeID, _ name: String) { self.init(id: id.text, name) }

  init(id: String, _ name: String) {
    detail.id = id
    detail.name = name
  }

  mutating func add(_ name: String, _ value: String) {
    detail.properties.append(.with { ($0.name, $0.value) = (name, value) })
  }

  mutating func add(_ name: String, _ value: Int) { add(name, "\(value)") }

  /// How long ago something happened; nothing if it never did.
  mutating func add(_ name: String, _ moment: ContinuousClock.Instant?) {
    guard let moment else { return }
    let tenths = Int(max(0, moment.duration(to: .now) / .milliseconds(100)))
    add(name, "\(tenths / 10).\(tenths % 10) s ago")
  }

  mutating func add(_ calls: CallCounts) {
    add("Calls started", calls.started)
    add("Calls succeeded", calls.succeeded)
    add("Calls failed", calls.failed)
    add("Last call", calls.lastStarted)
  }

  mutating func add(_ snapshot: ConnectionSnapshot) {
    if let address = snapshot.localAddress { add("Local address", "\(address)") }
    if let address = snapshot.remoteAddress { add("Remote address", "\(address)") }
    add(snapshot.security)
    add("Streams", snapshot.streamsStarted)
    add("Streams that were reset or lost", snapshot.streamsFailed)
    add("Messages sent", snapshot.messagesSent)
    add("Messages received", snapshot.messagesReceived)
    add("Pings sent", snapshot.keepalivesSent)
    add("Last stream", snapshot.lastStreamStarted)
    add("Last message sent", snapshot.lastMessageSent)
    add("Last message received", snapshot.lastMessageReceived)
    for (abuse, count) in snapshot.abuses.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      add("Broken rule: \(abuse.rawValue)", count)
    }
    guard let http2 = snapshot.http2 else { return }
    add("Window to send", "\(http2.sendWindow) bytes")
    add("Window to receive", "\(http2.receiveWindow) bytes")
    let isBounded = http2.peerMaxConcurrentStreams < Int(UInt32.max)
    add("Streams that the peer allows", isBounded ? "\(http2.peerMaxConcurrentStreams)" : "any number")
    if let error = http2.goAwayError { add("GOAWAY of the peer", "error \(error)") }
  }

  /// What TLS has negotiated, and who the peer is by its certificate.
  private mutating func add(_ security: ConnectionSnapshot.Security?) {
    guard let security else { return add("TLS", "none") }
    add("TLS", "\(security.version), \(security.cipherSuite)")
    add("ALPN", security.applicationProtocol.isEmpty ? "nothing selected" : security.applicationProtocol)
    guard let certificate = CertificateFacts(der: security.remoteCertificate) else {
      return add("Certificate of the peer", security.remoteCertificate.isEmpty ? "none" : "not readable")
    }
    add("Peer", certificate.identity)
    add("Certificate of the peer", "\(certificate.subject), issued by \(certificate.issuer)")
  }

  mutating func add(_ trace: ChannelTrace) {
    detail.events = trace.events.reversed().map { event in
      .with {
        $0.time = .now() - Google_Protobuf_Duration(event.time.duration(to: .now))
        $0.text = event.description
        $0.isWarning = event.isWarning
      }
    }
  }
}

extension ConnectivityState {
  /// As gRPC writes it.
  var shown: String {
    switch self {
    case .idle: "IDLE"
    case .connecting: "CONNECTING"
    case .ready: "READY"
    case .transientFailure: "TRANSIENT_FAILURE"
    case .shutdown: "SHUTDOWN"
    }
  }
}

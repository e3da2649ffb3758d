import SwitchboardBalancing
import SwitchboardCall

extension Channel {
  /// The current state of the channel's connections, and each later one. A slow reader gets the latest states, not all.
  /// A channel without connections, such as one within the process, is always ready.
  public var connectivity: AsyncStream<ConnectivityState> {
    if let transport = transport as? HTTP2ClientTransport { return transport.connectivity }
    return AsyncStream { continuation in
      continuation.yield(.ready)
      continuation.finish()
    }
  }

  /// Connects now instead of with the first call.
  public func connect() { transport.connect() }
}

import SwitchboardCall

extension Channel {
  /// The state of the channel's connections now, and each one after it. A reader that is slow sees the latest
  /// states, not all. A channel that has no connections, such as one within the process, is ready once and for all.
  public var connectivity: AsyncStream<ConnectivityState> {
    if let transport = transport as? HTTP2ClientTransport { return transport.connectivity }
    return AsyncStream { continuation in
      continuation.yield(.ready)
      continuation.finish()
    }
  }

  /// Connects now, rather than when the first call wants it.
  public func connect() { (transport as? HTTP2ClientTransport)?.connect() }
}

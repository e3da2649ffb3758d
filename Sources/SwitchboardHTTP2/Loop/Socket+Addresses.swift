extension Socket {
  /// This end's address, as the system has it now.
  var localAddress: SocketAddress? { descriptor.flatMap { ListeningSocket.name(of: $0) } }

  /// The peer's; `nil` once the peer is gone.
  var remoteAddress: SocketAddress? { descriptor.flatMap { ListeningSocket.peer(of: $0) } }
}

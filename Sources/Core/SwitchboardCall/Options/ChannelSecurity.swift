/// How a channel's connections are secured.
///
/// ```swift
/// var options = ChannelOptions()
/// options.security = .tls(ClientTLS(trustRoots: .file("roots.pem")))
/// let channel = try Channel(target: "greeter.example:443", options: options)
/// ```
public enum ChannelSecurity: Sendable, Hashable {
  /// Plaintext to targets that are on this machine by their name, such as `localhost:50051`, `127.0.0.1:50051` and
  /// `unix:/run/greeter`, and TLS to all others. The default, of every client and of the command.
  case automatic
  /// Plaintext. Anyone between the channel and its server can read and change the calls.
  case plaintext
  /// TLS.
  case tls(ClientTLS = ClientTLS())

  /// How to use TLS; `nil` for plaintext.
  package func tls(isOnThisMachine: @autoclosure () -> Bool) -> ClientTLS? {
    switch self {
    case .automatic: isOnThisMachine() ? nil : ClientTLS()
    case .plaintext: nil
    case .tls(let tls): tls
    }
  }
}

extension ChannelSecurity {
  @available(*, unavailable, renamed: "plaintext")
  public static var insecure: ChannelSecurity { .plaintext }
}

/// Where the security of a channel is chosen, for messages that say what to change.
package enum SecurityPlace: Sendable {
  case options
  /// The bootstrap of a mesh: the channel is one to a control plane.
  case bootstrap
}

import ConsoleMessages

/// Names a line of the tree in requests, such as `server-1` or `connection-1-27`.
struct NodeID: Sendable, Hashable {
  enum Kind: String, Sendable, CaseIterable {
    case server, listener, channel, policy, subchannel
    case serverConnection = "connection"
    case channelConnection = "socket"

    var shown: Switchboard_Console_V1_Node.Kind {
      switch self {
      case .server: .server
      case .listener: .listener
      case .channel: .channel
      case .policy: .policy
      case .subchannel: .subchannel
      case .serverConnection, .channelConnection: .connection
      }
    }
  }

  let kind: Kind
  /// The number of the server or the channel.
  let owner: Int64
  /// Its number within that; zero for the server or the channel itself.
  let number: Int

  init(_ kind: Kind, _ owner: Int64, _ number: Int = 0) {
    (self.kind, self.owner, self.number) = (kind, owner, number)
  }

  var text: String { number == 0 ? "\(kind.rawValue)-\(owner)" : "\(kind.rawValue)-\(owner)-\(number)" }

  /// `nil` if the text names no line.
  init?(_ text: [UInt8]) {
    let parts = text.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard (2...3).contains(parts.count), let kind = Kind(rawValue: parts[0]), let owner = Int64(parts[1])
    else {
      return nil
    }
    let number = parts.count == 3 ? Int(parts[2]) : 0
    guard let number else { return nil }
    self.init(kind, owner, number)
  }
}

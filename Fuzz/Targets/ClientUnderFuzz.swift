import SwitchboardBalancing
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A client with calls of every kind in progress, which receives arbitrary bytes from the server.
struct ClientUnderFuzz {
  /// All inputs share one loop; each has its own channel.
  static let shared = Result { try ClientUnderFuzz() }

  private let group: LoopGroup
  private let config: ServiceConfig

  private init() throws {
    group = try LoopGroup()
    config = try CallUnderFuzz.config()
  }

  /// The SETTINGS frame that opens a connection.
  private static let greeting: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// The only connection is the one under test; further attempts fail at once.
  static let target = "unix:/nowhere/at/all"

  static let options: ChannelOptions = {
    var options = ChannelOptions()
    options.logger = .quiet
    options.maxConnections = 1
    options.responseSizeLimit = 1 << 16
    return options
  }()

  fileprivate func run(_ input: [UInt8]) throws {
    guard !input.isEmpty else { return }
    let transport = try HTTP2ClientTransport(target: Self.target, options: Self.options, group: group)
    let channel = CallUnderFuzz.channel(over: transport, config)
    let server = try FedSocket(on: transport.loop) { transport.take($0) }
    let calls = CallUnderFuzz.startAll(on: channel)
    try server.feed(input, after: Self.greeting)
    for call in calls { try call.check() }
  }
}

extension Result<ClientUnderFuzz, any Error> {
  func run(_ input: [UInt8]) throws { try get().run(input) }
}

extension HTTP2ClientTransport {
  /// Makes a connection of a socket, as if the channel had connected it. Call on the loop.
  func take(_ descriptor: Int32) {
    guard let socket = Socket.adopt(descriptor, .unix(path: ""), on: loop) else { return }
    balancer.leaveIdle()
    balancer.received(ResolverResult(endpoints: [Endpoint([.unix(path: "/nowhere/at/all")])]))
    guard let subchannel = subchannels.values.first else { return }
    subchannel.finishDialing()
    subchannel.adopt(subchannel.startDialing(), socket, nil)
  }
}

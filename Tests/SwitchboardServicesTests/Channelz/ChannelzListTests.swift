import CallTestSupport
import CertificateSupport
import EchoService
import Foundation
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardNetwork
import SwitchboardServices
import SwitchboardTransport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ChannelzListTests {
  @Test func connectionsAreListedWhileTheyAreOpen() async throws {
    try await Watched.with { watched async throws in
      #expect(try await watched.serverSockets().isEmpty)
      #expect(try await watched.channelSockets().isEmpty)
      #expect(await watched.get("hello") == nil)
      let server = try #require(try await watched.serverSockets().first)
      let client = try #require(try await watched.channelSockets().first)
      #expect(client.name == "\(watched.address)")
      let (ours, theirs) = try await (watched.socket(server), watched.socket(client))
      #expect(ours.ref == server && theirs.ref == client)
      #expect(ours.local == theirs.remote && ours.remote == theirs.local)
      #expect(ours.local.tcpipAddress.ipAddress == [127, 0, 0, 1])
      #expect(Int(ours.local.tcpipAddress.port) == watched.address.port)
      #expect(server.name == "ipv4:127.0.0.1:\(theirs.local.tcpipAddress.port)")
      #expect(!ours.hasSecurity)

      await watched.channel.shutDown(grace: .zero)
      try await watched.until { try await watched.serverSockets().isEmpty }
      #expect(try await watched.channelSockets().isEmpty)
      for reference in [server, client] {
        #expect(await status { _ = try await watched.socket(reference) }?.code == .notFound)
      }
      // Their calls still count.
      #expect(try await watched.serverData().callsSucceeded == 1)
      #expect(try await watched.channelData().state.state == .shutdown)
    }
  }

  @Test func theEventsOfAChannelAreShown() async throws {
    try await Watched.with { watched async throws in
      #expect(await watched.get("hello") == nil)
      let socket = try #require(try await watched.channelSockets().first)
      await watched.channel.shutDown(grace: .zero)
      let trace = try await watched.channelData().trace
      let ended = trace.events.last { $0.description_p.hasPrefix("a connection ended: ") }
      #expect(ended != nil)
      #expect(
        trace.events.filter { $0 != ended }.map(\.description_p) == [
          "the channel was made", "connecting", "the policy is pick_first", "connected to \(socket.name)",
          "ready", "shutdown",
        ]
      )
      #expect(trace.numEventsLogged == 7)
      #expect(trace.events.allSatisfy { $0.severity == .ctInfo && $0.hasTimestamp })
      #expect(trace.hasCreationTimestamp)
    }
  }

  @Test func onlyTheLatestEventsAreKept() async throws {
    // No server listens there.
    let path = "/tmp/switchboard-channelz-\(UUID().uuidString).sock"
    try await withChannel(to: "unix:\(path)") { channel async throws in
      let loop = try #require(channel.eventLoop as? Loop)
      while !Task.isCancelled, await channel.snapshot()?.trace.eventCount ?? 0 <= 40 {
        channel.connect()
        await loop.advance(by: .seconds(200))
      }
      let trace = try #require(await channel.snapshot()?.trace)
      #expect(trace.events.count == ChannelTrace.limit)
      #expect(trace.events.contains { $0.isWarning && $0.description.hasPrefix("cannot connect: ") })
      #expect(trace.events.first?.description != "the channel was made")
    }
  }

  @Test func listenersAreListedAsSockets() async throws {
    try await Watched.with { watched async throws in
      let second = try watched.server.bind(host: "127.0.0.1", port: 0)
      let server = try await watched.view.getServer(.with { $0.serverID = Watched.serverID }).server
      #expect(server.ref.name == "echo")
      #expect(server.listenSocket.map(\.name) == ["\(watched.address)", "\(second)"])
      let listener = try await watched.socket(server.listenSocket.last)
      #expect(Int(listener.local.tcpipAddress.port) == second.port)
      #expect(!listener.hasRemote && !listener.hasData)
    }
  }

  @Test func unixSocketsHaveTheirPath() async throws {
    try await Watched.with(wire: .unix) { watched async throws in
      let path = watched.address.host
      #expect(await watched.get("hello") == nil)
      let socket = try await watched.socket(watched.serverSockets().first)
      #expect(socket.local.udsAddress.filename == path)
      #expect(socket.ref.name == "unix:\(path)")
      #expect(try await watched.channelSockets().first?.name == "unix:\(path)")
    }
  }

  /// The bytes of a certificate in PEM.
  private func encoded(_ source: PEMSource) throws -> [UInt8] {
    guard case .bytes(let bytes) = source else { return [] }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter {
      !$0.hasPrefix("-----")
    }
    return Array(try #require(Data(base64Encoded: lines.joined())))
  }

  @Test(arguments: [true, false]) func tlsIsReported(_ showsClient: Bool) async throws {
    var options = ServerOptions()
    options.tls = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .optional,
      trustRoots: TestCertificates.authority
    )
    var channel = ChannelOptions()
    let credentials = showsClient ? TestCertificates.client : nil
    channel.security = .tls(ClientTLS(trustRoots: TestCertificates.authority, credentials: credentials))
    try await Watched.with(server: options, channel: channel) { watched async throws in
      #expect(await watched.get("hello") == nil)
      let reference = try #require(try await watched.serverSockets().first)
      let server = try await watched.socket(reference).security.tls
      let client = try await watched.socket(watched.channelSockets().first).security.tls
      #expect(server.standardName.hasPrefix("TLS_"))
      #expect(server.standardName == client.standardName)
      let certificate = try encoded(TestCertificates.serverCertificate)
      #expect(server.localCertificate == certificate && client.remoteCertificate == certificate)
      let shown = showsClient ? try encoded(TestCertificates.clientCertificate) : []
      #expect(server.remoteCertificate == shown && client.localCertificate == shown)
      let summary = try await watched.view.getSocket(
        .with {
          $0.socketID = reference.socketID
          $0.summary = true
        }
      )
      #expect(!summary.socket.hasSecurity && summary.socket.data.streamsStarted == 1)
    }
  }

  @Test func serversAndChannelsComeInPages() async throws {
    let channelz = ChannelzService()
    let group = try LoopGroup()
    let servers = try (0..<5).map { _ in try Server(providers: [], group: group) }
    for server in servers { channelz.add(server) }
    // Adding it twice has no effect.
    for server in servers { channelz.add(server) }
    let channels = try (0..<3).map { try Channel(target: "localhost:\($0 + 1)", group: group) }
    for channel in channels { channelz.add(channel) }
    try await withChannel(to: [channelz]) { outlook async throws in
      let view = Grpc_Channelz_V1_ChannelzClient(channel: outlook)
      func page(_ start: Int64, _ limit: Int64) async throws -> ([Int64], Bool) {
        let response = try await view.getServers(
          .with {
            $0.startServerID = start
            $0.maxResults = limit
          }
        )
        return (response.server.map(\.ref.serverID), response.end)
      }
      #expect(try await page(0, 0) == ([1, 2, 3, 4, 5], true))
      #expect(try await page(0, 2) == ([1, 2], false))
      #expect(try await page(3, 2) == ([3, 4], false))
      #expect(try await page(5, 2) == ([5], true))
      #expect(try await page(4, 2) == ([4, 5], true))
      #expect(try await page(6, 2) == ([], true))
      #expect(try await page(0, .max) == ([1, 2, 3, 4, 5], true))
      #expect(await status { _ = try await page(-1, 2) }?.code == .invalidArgument)
      #expect(await status { _ = try await page(0, -1) }?.code == .invalidArgument)
      let top = try await view.getTopChannels(
        .with {
          $0.startChannelID = 7
          $0.maxResults = 1
        }
      )
      #expect(top.channel.map(\.ref.channelID) == [7])
      #expect(top.channel.first?.data.state.state == .idle)
      #expect(!top.end)
    }
    withExtendedLifetime((servers, channels)) {}
  }

  @Test func theConnectionsOfAServerComeInPages() async throws {
    let group = try LoopGroup(count: 2)
    try await Watched.with(group: group) { watched async throws in
      let others = try (0..<2).map { _ in try Channel(target: "\(watched.address)") }
      #expect(await watched.get("hello") == nil)
      for channel in others { _ = try await Echo_EchoClient(channel: channel).get(Echo_EchoRequest()) }
      func page(_ start: Int64, _ limit: Int64) async throws -> Grpc_Channelz_V1_GetServerSocketsResponse {
        try await watched.view.getServerSockets(
          .with {
            $0.serverID = Watched.serverID
            $0.startSocketID = start
            $0.maxResults = limit
          }
        )
      }
      let all = try await page(0, 0)
      #expect(all.end && all.socketRef.count == 3)
      let first = try await page(0, 2)
      #expect(!first.end && first.socketRef == Array(all.socketRef.prefix(2)))
      let second = try await page((first.socketRef.last?.socketID ?? 0) + 1, 2)
      #expect(second.end && second.socketRef == Array(all.socketRef.suffix(1)))
      #expect(try await watched.serverData().callsSucceeded == 3)
      for channel in others { await channel.shutDown(grace: .zero) }
    }
  }

  @Test func missingEntriesAreNotFound() async throws {
    try await Watched.with { watched async throws in
      let view = watched.view
      for id: Int64 in [0, 99, -1, .max, .min, 99 << 40, 1 << 40 | 99, 2 << 40 | 99] {
        #expect(await status { _ = try await view.getServer(.with { $0.serverID = id }) }?.code == .notFound)
        #expect(
          await status { _ = try await view.getServerSockets(.with { $0.serverID = id }) }?.code == .notFound
        )
        #expect(
          await status { _ = try await view.getChannel(.with { $0.channelID = id }) }?.code == .notFound
        )
        #expect(
          await status { _ = try await view.getSubchannel(.with { $0.subchannelID = id }) }?.code == .notFound
        )
        #expect(await status { _ = try await view.getSocket(.with { $0.socketID = id }) }?.code == .notFound)
      }
      // A server ID is not a channel ID.
      let channel = Watched.channelID
      #expect(
        await status { _ = try await view.getServer(.with { $0.serverID = channel }) }?.code == .notFound
      )
    }
  }

  @Test func releasedChannelsAreNoLongerShown() async throws {
    let channelz = ChannelzService()
    try await withChannel(to: [channelz]) { outlook async throws in
      let view = Grpc_Channelz_V1_ChannelzClient(channel: outlook)
      do {
        let server = try Server(providers: [])
        let channel = try Channel(target: "localhost:1")
        channelz.add(server)
        channelz.add(channel)
        #expect(try await view.getServers(Grpc_Channelz_V1_GetServersRequest()).server.count == 1)
        #expect(try await view.getTopChannels(Grpc_Channelz_V1_GetTopChannelsRequest()).channel.count == 1)
        withExtendedLifetime((server, channel)) {}
      }
      #expect(try await view.getServers(Grpc_Channelz_V1_GetServersRequest()).server.isEmpty)
      #expect(try await view.getTopChannels(Grpc_Channelz_V1_GetTopChannelsRequest()).channel.isEmpty)
    }
  }

  @Test func aChannelWithoutConnectionsIsLeftOut() async throws {
    let channelz = ChannelzService()
    let inProcess = try Channel(inProcess: [TalkingEcho()])
    channelz.add(inProcess)
    try await withChannel(to: [channelz]) { outlook async throws in
      let view = Grpc_Channelz_V1_ChannelzClient(channel: outlook)
      #expect(try await view.getTopChannels(Grpc_Channelz_V1_GetTopChannelsRequest()).channel.isEmpty)
    }
    #expect(await inProcess.snapshot() == nil)
  }
}

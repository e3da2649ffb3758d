import Switchboard
import SwitchboardProtobuf
import SwitchboardServiceMessages

/// Shows tools the servers and channels of the process and their connections: `grpc.channelz.v1.Channelz`.
///
/// Register it along with the other providers, and add the servers and channels to show:
/// ```swift
/// let channelz = ChannelzService()
/// let server = try Server(providers: [ShopProvider(), channelz])
/// channelz.add(server, name: "shop")
/// channelz.add(channelToTheStock)
/// ```
/// It keeps no strong references: a server or a channel that is released disappears from its answers. If none was added when
/// a tool first asks, or when the service is released, its server's log has a warning; also if no server has it. It reveals
/// who is connected, so a server on a public network should not have it.
public final class ChannelzService: Grpc_Channelz_V1_ChannelzProvider {
  public var interceptors: Interceptors? { nil }

  private let entries = Locked(ChannelzEntries())
  /// The log of its server, until it says that there is nothing to show.
  private let serverLogger = Locked<Logger?>(nil)
  private let hasServer = Locked(false)
  /// For a service that no server has.
  private let logger: Logger

  /// Creates a service that shows no servers or channels yet.
  public init() { logger = .standardError }

  init(_ logger: Logger) { self.logger = logger }

  deinit {
    remarkIfEmpty()
    guard entries.withLock(\.wasFilled), !hasServer.withLock({ $0 }) else { return }
    logger.log(
      .warning,
      "servers or channels were added to a ChannelzService that no server has: add it to the server's providers",
      [:]
    )
  }

  private func remarkIfEmpty() {
    guard !entries.withLock(\.wasFilled), let logger = serverLogger.withLock({ $0.take() }) else { return }
    logger.log(
      .warning,
      "channelz shows nothing: add(_:name:) of the ChannelzService was called with no server, and with no channel that has "
        + "connections of its own",
      [:]
    )
  }

  /// Adds a server.
  public func add(_ server: Server, name: String = "") {
    entries.withLock { $0.add(ChannelzEntries.Weak(server, name)) }
  }

  /// Adds a channel.
  ///
  /// A channel without connections of its own is ignored: one within the process, or one that uses a pool.
  public func add(_ channel: Channel, name: String = "") {
    guard channel.hasSnapshot else { return }
    entries.withLock { $0.add(ChannelzEntries.Weak(channel, name)) }
  }

  // MARK: - Servers

  public func getServers(
    request: Grpc_Channelz_V1_GetServersRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Channelz_V1_GetServersResponse {
    remarkIfEmpty()
    let known = entries.withLock { $0.servers }
    let page = try ChannelzPage(of: known, from: request.startServerID, upTo: request.maxResults, by: \.id)
    var response = Grpc_Channelz_V1_GetServersResponse()
    for entry in page.items { response.server.append(await entry.described()) }
    response.end = page.isLast
    return response
  }

  public func getServer(
    request: Grpc_Channelz_V1_GetServerRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Channelz_V1_GetServerResponse {
    let described = try await server(request.serverID).described()
    return .with { $0.server = described }
  }

  public func getServerSockets(
    request: Grpc_Channelz_V1_GetServerSocketsRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Channelz_V1_GetServerSocketsResponse {
    let entry = try server(request.serverID)
    let sockets = await entry.server.snapshot().connections.map { entry.id.socket($0.number, named: $0.name) }
    let page = try ChannelzPage(
      of: sockets,
      from: request.startSocketID,
      upTo: request.maxResults,
      by: \.socketID
    )
    return .with {
      $0.socketRef = page.items
      $0.end = page.isLast
    }
  }

  private func server(_ id: Int64) throws -> ChannelzEntries.KnownServer {
    let found = entries.withLock { entries in entries.servers.first { $0.id == id } }
    guard let found else { throw GRPCStatus.noEntry("server", id) }
    return found
  }

  // MARK: - Channels

  public func getTopChannels(
    request: Grpc_Channelz_V1_GetTopChannelsRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Channelz_V1_GetTopChannelsResponse {
    remarkIfEmpty()
    let known = entries.withLock { $0.channels }
    let page = try ChannelzPage(of: known, from: request.startChannelID, upTo: request.maxResults, by: \.id)
    var response = Grpc_Channelz_V1_GetTopChannelsResponse()
    for entry in page.items {
      if let described = await entry.described() { response.channel.append(described) }
    }
    response.end = page.isLast
    return response
  }

  public func getChannel(
    request: Grpc_Channelz_V1_GetChannelRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Channelz_V1_GetChannelResponse {
    guard let entry = channel(request.channelID), let described = await entry.described() else {
      throw GRPCStatus.noEntry("channel", request.channelID)
    }
    return .with { $0.channel = described }
  }

  public func getSubchannel(
    request: Grpc_Channelz_V1_GetSubchannelRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Channelz_V1_GetSubchannelResponse {
    let id = request.subchannelID
    guard let entry = channel(id.owner), let described = await entry.describedSubchannel(id.number) else {
      throw GRPCStatus.noEntry("subchannel", id)
    }
    return .with { $0.subchannel = described }
  }

  private func channel(_ id: Int64) -> ChannelzEntries.KnownChannel? {
    entries.withLock { entries in entries.channels.first { $0.id == id } }
  }

  // MARK: - Sockets

  public func getSocket(
    request: Grpc_Channelz_V1_GetSocketRequest,
    context: ServerCallContext
  ) async throws -> Grpc_Channelz_V1_GetSocketResponse {
    guard let socket = await socket(request.socketID, isSummary: request.summary) else {
      throw GRPCStatus.noEntry("socket", request.socketID)
    }
    return .with { $0.socket = socket }
  }

  private func socket(_ id: Int64, isSummary: Bool) async -> Grpc_Channelz_V1_Socket? {
    guard id.number > 0 else { return nil }
    let number = Int(id.number)
    if let entry = channel(id.owner) {
      guard let found = await entry.channel.connectionSnapshot(number) else { return nil }
      return Grpc_Channelz_V1_Socket(found, of: entry.id, isSummary: isSummary)
    }
    guard let entry = try? server(id.owner) else { return nil }
    if let found = await entry.server.connectionSnapshot(number) {
      return Grpc_Channelz_V1_Socket(found, of: entry.id, isSummary: isSummary)
    }
    let listener = await entry.server.snapshot().listeners.first { $0.number == number }
    return listener.map { Grpc_Channelz_V1_Socket($0, of: entry.id) }
  }
}

extension ChannelzService: ServiceObserver {
  package func serverWasMade(of services: [String], isInProcess: Bool, _ logger: Logger) {
    serverLogger.withLock { $0 = logger }
    hasServer.withLock { $0 = true }
  }
}

extension GRPCStatus {
  fileprivate static func noEntry(_ kind: String, _ id: Int64) -> GRPCStatus {
    GRPCStatus(code: .notFound, message: "no \(kind) with the ID \(id)")
  }
}

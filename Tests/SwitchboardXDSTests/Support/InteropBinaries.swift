import Foundation
import InteropService
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// gRPC's test client of a mesh and its servers, as processes, which are started as grpc-go's end-to-end tests start theirs.
struct InteropBinaries {
  let client: ChildProcess
  /// Where the client serves statistics.
  let statistics: String
  private(set) var servers: [(process: ChildProcess, port: Int)] = []

  /// Starts a client of the target `xds:///NAME`, and then servers that call themselves `NAME-0`, `NAME-1` and so on. The client's
  /// certificates are in `certificates`.
  init(
    _ name: String,
    _ plane: PlanePeer,
    servers: Int,
    _ flags: [String] = [],
    serverFlags: [String] = [],
    certificates: String = "."
  ) throws {
    let environment = "GRPC_XDS_BOOTSTRAP_CONFIG=\(plane.bootstrapText(certificates: certificates))"
    // A machine that is busy with other tests may take its time.
    let usual = ["--print_response=true", "--qps=100", "--stats_port=0", "--rpc_timeout_sec=600"]
    let flags = ["--server=xds:///\(name)"] + usual + flags
    client = try ChildProcess(
      "/usr/bin/env",
      [environment, Command.path(ofProduct: "Interop"), "xds-client"] + flags
    )
    statistics = "127.0.0.1:\(try Self.port(client))"
    for number in 0..<servers {
      let process = try ChildProcess(
        Command.path(ofProduct: "Interop"),
        ["server", "--port=0", "--host_name_override=\(name)-\(number)"] + serverFlags
      )
      self.servers.append((process, try Self.port(process)))
    }
  }

  private static func port(_ process: ChildProcess) throws -> Int {
    while let line = process.line() {
      guard line.hasPrefix("listening on ") else { continue }
      return try #require(line.split(separator: ":").last.flatMap { Int($0) })
    }
    throw PlanePeer.Missing(what: "a line with a port")
  }

  /// Runs `body` with a channel to the client's services.
  func withStatistics<Value>(_ body: (Channel) async throws -> Value) async throws -> Value {
    var options = ChannelOptions()
    options.security = .plaintext
    return try await withChannel(to: statistics, options: options) { channel async throws in
      try await body(channel)
    }
  }
}

extension PlanePeer {
  /// The bootstrap as grpc-go's end-to-end tests write it.
  func bootstrapText(certificates: String) -> String {
    """
    {"xds_servers": [{"server_uri": "passthrough:///127.0.0.1:\(port)", "channel_creds": [{"type": "insecure"}], \
    "server_features": ["trusted_xds_server"]}], "node": {"id": "test-client"}, \
    "certificate_providers": {"client-side": {"plugin_name": "file_watcher", "config": {"certificate_file": "\(certificates)/cert.pem", \
    "private_key_file": "\(certificates)/key.pem", "ca_certificate_file": "\(certificates)/ca.pem", \
    "refresh_interval": "600s"}}}, \
    "server_listener_resource_name_template": "grpc/server?xds.resource.listening_address=%s"}
    """
  }
}

extension Channel {
  /// Where the next 100 calls go.
  func nextCalls() async throws -> Grpc_Testing_LoadBalancerStatsResponse {
    let client = Grpc_Testing_LoadBalancerStatsServiceClient(channel: self)
    return try await client.getClientStats(.with { ($0.numRpcs, $0.timeoutSec) = (100, 600) })
  }

  /// Waits until the next 100 calls go where they should.
  func waitForCalls(
    _ areRight: (Grpc_Testing_LoadBalancerStatsResponse) -> Bool
  ) async throws {
    while !areRight(try await nextCalls()) { try Task.checkCancellation() }
  }

  /// How many subchannels of the channel with this target are in each state, by channelz.
  func subchannelStates(
    of target: String
  ) async throws -> [Grpc_Channelz_V1_ChannelConnectivityState.State: Int] {
    let client = Grpc_Channelz_V1_ChannelzClient(channel: self)
    var states: [Grpc_Channelz_V1_ChannelConnectivityState.State: Int] = [:]
    for channel in try await client.getTopChannels(.init()).channel where channel.data.target == target {
      for reference in channel.subchannelRef {
        let answer = try await client.getSubchannel(.with { $0.subchannelID = reference.subchannelID })
        states[answer.subchannel.data.state.state, default: 0] += 1
      }
    }
    return states
  }
}

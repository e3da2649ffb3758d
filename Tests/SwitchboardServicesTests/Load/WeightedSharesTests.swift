import SwitchboardCall
import Testing

/// Servers that report their load get the shares that gRFC A58 gives them.
@Suite(.timeLimit(.minutes(5))) struct WeightedSharesTests {
  private static let (first, second) = ([400.0, 200, 100], [100.0, 150, 450])

  /// Checks some calls, once weights have been computed.
  private func check(_ client: WeightedClient, _ weights: [Double]) async throws {
    let law = LoadedServers.law(weights)
    try await client.waitUntilSharesAre(law)
    let shares = try await client.shares(of: 1400)
    #expect(WeightedClient.are(shares, law, within: 0.02), "\(shares) instead of \(law)")
  }

  @Test func sharesFollowTheReportsOfCalls() async throws {
    try await LoadedServers.with { servers async throws in
      LoadedServers.set(Self.first, of: servers.ofCalls)
      LoadedServers.set(Self.second, of: servers.besides)
      let client = try WeightedClient(servers.ports, outOfBand: false)
      try await check(client, Self.first)
      LoadedServers.set(Self.second, of: servers.ofCalls)
      try await check(client, Self.second)
      await client.shutDown()
    }
  }

  @Test func sharesFollowOutOfBandReports() async throws {
    try await LoadedServers.with { servers async throws in
      LoadedServers.set(Self.second, of: servers.ofCalls)
      LoadedServers.set(Self.first, of: servers.besides)
      let client = try WeightedClient(servers.ports, outOfBand: true)
      try await check(client, Self.first)
      LoadedServers.set(Self.second, of: servers.besides)
      for time in servers.time {
        #expect(await time.nextWait() == .seconds(1))
        time.advance(by: .seconds(1))
      }
      try await check(client, Self.second)
      await client.shutDown()
    }
  }
}

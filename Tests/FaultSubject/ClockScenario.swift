import CFaultClock
import CertificateSupport
import FaultSupport
import Foundation
import Switchboard
import SwitchboardInterceptors
import Synchronization

/// A process with client and server in which the time of day jumps.
struct ClockScenario {
  private static let year: Int64 = 365 * 86_400

  func run() async throws {
    let before = Date()
    Self.move(years: 10)
    FaultSubject.say("years later: \(Int(Date().timeIntervalSince(before) / Double(Self.year)))")
    Self.move(years: -10)
    try await deadlines()
    try await backoff()
    try await tokens()
    try await certificates()
  }

  private static func move(years: Int64) { fault_clock_move(years * year) }

  private func deadlines() async throws {
    let provider = LingeringProvider(.beforeAnswer)
    let (server, port) = try serve([provider])
    let channel = try Channel(target: "127.0.0.1:\(port)")
    let long = Task { await FaultCall(.unary, on: channel).outcome(CallOptions(timeout: .seconds(36_000))) }
    await provider.until { $0.lingering == 1 }
    Self.move(years: 10)
    FaultSubject.say("after a jump forward: \(await channel.ping())")
    FaultSubject.say("calls that its deadline ended: \(provider.handlers.released)")
    Self.move(years: -20)
    let short = await FaultCall(.unary, on: channel).outcome(CallOptions(timeout: .milliseconds(50)))
    FaultSubject.say("a deadline after a jump back: \(short.code)")
    Self.move(years: 10)
    long.cancel()
    FaultSubject.say("the long call: \(await long.value.code)")
    await channel.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
  }

  /// A server that restarts while the time of day is earlier than before.
  private func backoff() async throws {
    let (first, port) = try serve([LingeringProvider(.none)])
    await first.shutDown(grace: .zero)
    var options = ChannelOptions()
    options.connectInitialBackoff = .milliseconds(20)
    options.connectMaxBackoff = .milliseconds(20)
    let channel = try Channel(target: "127.0.0.1:\(port)", options: options)
    FaultSubject.say("nobody there: \(await channel.ping().code)")
    Self.move(years: -10)
    let second = try Server(providers: [LingeringProvider(.none)])
    try second.bind(host: "127.0.0.1", port: port)
    FaultSubject.say("connected anew after a jump back: \(await channel.ping(.patient))")
    Self.move(years: 10)
    await channel.shutDown(grace: .zero)
    await second.shutDown(grace: .zero)
  }

  private func tokens() async throws {
    let count = Atomic(0)
    let tokens = AccessTokens {
      let number = count.wrappingAdd(1, ordering: .relaxed).newValue
      return AccessToken("token \(number)", lifetime: .seconds(3600))
    }
    var seen: [String] = [try await tokens.token().value]
    for years: Int64 in [10, -20, 10] {
      Self.move(years: years)
      seen.append(try await tokens.token().value)
    }
    FaultSubject.say("tokens: \(Set(seen).sorted().joined(separator: ", "))")
  }

  /// The only check that uses the time of day. The certificate is valid for a hundred years.
  private func certificates() async throws {
    var options = ServerOptions()
    options.tls = ServerTLS(credentials: TestCertificates.server)
    let (server, port) = try serve([LingeringProvider(.none)], options)
    let channel = try secureChannel(port)
    FaultSubject.say("TLS: \(await channel.ping())")
    for years: Int64 in [200, -50] {
      Self.move(years: years)
      FaultSubject.say("a connection that is open: \(await channel.ping())")
      let late = try secureChannel(port)
      FaultSubject.say("another: \(await late.ping())")
      Self.move(years: -years)
      FaultSubject.say("the same, with the time right again: \(await late.ping(.patient))")
      await late.shutDown(grace: .zero)
    }
    await channel.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
  }

  private func secureChannel(_ port: Int) throws -> Channel {
    var options = ChannelOptions()
    options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    options.connectInitialBackoff = .milliseconds(20)
    options.connectMaxBackoff = .milliseconds(20)
    return try Channel(target: "127.0.0.1:\(port)", options: options)
  }

  private func serve(
    _ providers: [any CallHandlerProvider],
    _ options: ServerOptions = ServerOptions()
  ) throws -> (Server, port: Int) {
    let server = try Server(providers: providers, options: options)
    return (server, try server.bind(host: "127.0.0.1", port: 0).port)
  }
}

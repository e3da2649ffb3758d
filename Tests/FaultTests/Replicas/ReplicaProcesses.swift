import EchoService
import Foundation
import HTTP2TestSupport
import Switchboard
import TestSupport

/// One of several servers behind a name, as a process of its own.
final class ReplicaProcess: Sendable {
  enum Make: Sendable {
    case ours, grpcio
  }

  let name: String
  let host: String
  private let port: Int
  private let make: Make
  /// What a server of grpcio reports as its utilization.
  private let load: Double?
  private let program: Locked<ChildProcess>

  init(_ make: Make, _ name: String, host: String, port: Int, load: Double? = nil) throws {
    (self.make, self.name, self.host, self.port, self.load) = (make, name, host, port, load)
    program = Locked(try Self.start(make, name, host, port, load))
  }

  /// Returns when it serves.
  private static func start(
    _ make: Make,
    _ name: String,
    _ host: String,
    _ port: Int,
    _ load: Double?
  ) throws -> ChildProcess {
    let program: ChildProcess
    switch make {
    case .ours: program = try .faultSubject(["replica", host, "\(port)", name])
    case .grpcio:
      let script = TestFolders.peers().appending(path: "replicas_peer.py").path
      let words = [script, "server", "\(host):\(port)", name] + (load.map { ["\($0)"] } ?? [])
      program = try ChildProcess(TestFolders.python, words)
    }
    guard program.line()?.hasSuffix("\(host):\(port)") == true else { throw InteropProcess.NotServing() }
    return program
  }

  func send(_ signal: Int32) { program.withLock { $0 }.send(signal) }

  /// Its exit code.
  func end(with signal: Int32) -> Int32 {
    send(signal)
    return program.withLock { $0 }.exitCode()
  }

  func startAgain() throws {
    let next = try Self.start(make, name, host, port, load)
    program.withLock { $0 = next }
  }
}

/// Servers on addresses of their own and one port, and the name server that knows them as `replicas.test`.
struct ReplicaProcesses {
  let servers: [ReplicaProcess]
  let names: Dnsmasq
  let target: String

  /// `loads` are what the servers of grpcio report.
  init(ours: Int, grpcio: Int = 0, loads: [Double?] = []) throws {
    (servers, target, names) = try Self.start(ours, grpcio, loads)
  }

  /// On a port below the range that the system assigns automatically, in a network that no other test has.
  private static func start(
    _ ours: Int,
    _ grpcio: Int,
    _ loads: [Double?]
  ) throws -> ([ReplicaProcess], String, Dnsmasq) {
    let network = "127.\(Int.random(in: 1...254)).\(Int.random(in: 1...254))"
    let port = Int.random(in: 20_000..<32_000)
    let servers = try (0..<ours + grpcio).map { number in
      try ReplicaProcess(
        number < ours ? .ours : .grpcio,
        "\(number < ours ? "ours" : "grpcio")-\(number)",
        host: "\(network).\(number + 1)",
        port: port,
        load: loads.indices.contains(number) ? loads[number] : nil
      )
    }
    let names = try Dnsmasq(hosts: hosts(servers), timeToLive: 0)
    return (servers, "dns://\(names.authority)/replicas.test:\(port)", names)
  }

  private static func hosts(_ servers: some Sequence<ReplicaProcess>) -> String {
    servers.map { "\($0.host) replicas.test\n" }.joined()
  }

  /// Has the name server answer with these only.
  func resolve(to servers: some Sequence<ReplicaProcess>) throws { try names.answer(Self.hosts(servers)) }

  /// A channel that looks the name up ten times a second and connects again soon.
  func channel(
    _ config: String = ReplicaConfig.roundRobin,
    _ change: (inout ChannelOptions) -> Void = { _ in }
  ) throws -> Channel {
    var options = ChannelOptions.impatient
    options.security = .plaintext
    options.serviceConfig = try ServiceConfig(json: config)
    options.resolutionPace.shortestInterval = .milliseconds(100)
    options.resolutionPace.initialBackoff = .milliseconds(100)
    options.resolutionPace.maxBackoff = .milliseconds(200)
    change(&options)
    return try Channel(target: target, options: options)
  }
}

/// Service configs of these tests.
enum ReplicaConfig {
  static let roundRobin = with("round_robin")

  /// `retries` are the codes after which calls are repeated.
  static func with(_ policy: String, _ settings: String = "{}", retries: String? = nil) -> String {
    let methods = retries.map { codes in
      """
      , "methodConfig": [{"name": [{}], "retryPolicy": {
        "maxAttempts": 5, "initialBackoff": "0.005s", "maxBackoff": "0.05s", "backoffMultiplier": 2,
        "retryableStatusCodes": [\(codes)]}}]
      """
    }
    return #"{"loadBalancingConfig": [{"\#(policy)": \#(settings)}]\#(methods ?? "")}"#
  }
}

import FaultSupport
import Foundation
import Switchboard

/// A process without free descriptors, as client and as server.
struct DescriptorScenario {
  /// Prints what the server reports about accepting.
  private struct AcceptLog: LogHandler {
    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      guard message.contains("accept") else { return }
      FaultSubject.say("log: \(message)" + (metadata["reason"].map { ": \($0)" } ?? ""))
    }
  }

  /// Starts loops when this many descriptors are free, and then when all are.
  static func start(with left: Int) throws {
    Hoard.limitDescriptors()
    var hoard = Hoard()
    hoard.takeAll(but: left)
    let early = Result { () throws(GRPCStatus) in try LoopGroup() }
    hoard.giveAllBack()
    FaultSubject.say("early: \(early)".contains("no resources") ? "nothing left" : "started")
    _ = try LoopGroup()
    FaultSubject.say("started")
  }

  /// Serves with at most `limit` descriptors, while Dispatch's threads always have work, until the input ends.
  static func serve(with limit: Int) async throws {
    Hoard.limitDescriptors(to: limit)
    var options = ServerOptions()
    options.logger = Logger(AcceptLog())
    let server = try Server(providers: [LingeringProvider(.none)], options: options)
    FaultSubject.say("\(try server.bind(host: "127.0.0.1", port: 0).port)")
    let workers = (0..<16).map { _ in Task { while !Task.isCancelled { await Task.yield() } } }
    let (ends, end) = AsyncStream<Never>.makeStream()
    Thread {
      while readLine() != nil {}
      end.finish()
    }.start()
    for await _ in ends {}
    for worker in workers { worker.cancel() }
    await server.shutDown(grace: .zero)
  }

  func run() async throws {
    Hoard.limitDescriptors()
    let group = try LoopGroup()
    // On the loop: Dispatch aborts a process without descriptors that has work waiting for its threads.
    try await Task(executorPreference: group.loops[0]) { try await exhaust(group) }.value
  }

  private func exhaust(_ group: LoopGroup) async throws {
    var hoard = Hoard()
    let provider = LingeringProvider(.beforeAnswer)
    var options = ServerOptions()
    options.logger = Logger(AcceptLog())
    let server = try Server(providers: [provider], options: options, group: group)
    let port = try server.bind(host: "127.0.0.1", port: 0).port
    let connected = try channel("127.0.0.1:\(port)", group)
    FaultSubject.say("connected: \(await connected.ping())")

    hoard.takeAll()
    FaultSubject.say("connected before: \(await connected.ping())")
    let late = try channel("127.0.0.1:\(port)", group)
    FaultSubject.say("connecting: \(await late.ping().withoutPort)")
    let named = try channel("localhost:\(port)", group)
    FaultSubject.say("by name: \(await named.ping().withoutPort)")
    // Otherwise it would retry and take descriptors meant for others.
    await named.shutDown(grace: .zero)
    FaultSubject.say("retrying: \(await late.ping(Self.retried).withoutPort)")
    let loops = Result { () throws(GRPCStatus) in try LoopGroup() }
    if case .failure(let status) = loops { FaultSubject.say("loops: \(status)") }
    let patient = Task { await late.ping(.patient) }
    hoard.giveAllBack()
    FaultSubject.say("connecting again: \(await patient.value)")

    try await receiveConnections(&hoard, port, group)

    let pending = Task { await FaultCall(.unary, on: connected).outcome() }
    await provider.until { $0.lingering == 1 }
    hoard.takeAll()
    await server.shutDown(grace: .milliseconds(50))
    FaultSubject.say("shut down: \(await pending.value.code)")
    hoard.giveAllBack()
  }

  /// The client gets the last descriptor, and none is left for the server's end.
  private func receiveConnections(_ hoard: inout Hoard, _ port: Int, _ group: LoopGroup) async throws {
    hoard.takeAll(but: 1)
    let channel = try channel("127.0.0.1:\(port)", group)
    let call = Task { await channel.ping() }
    let before = processorTime
    await Self.pause()
    FaultSubject.say("busy meanwhile: \(processorTime - before > 0.25)")
    hoard.giveAllBack()
    FaultSubject.say("accepted: \(await call.value)")
    await channel.shutDown(grace: .zero)
  }

  /// Not a Dispatch timer, which would need descriptors.
  private static func pause() async {
    await withCheckedContinuation { continuation in
      Thread {
        Thread.sleep(forTimeInterval: 0.5)
        continuation.resume()
      }.start()
    }
  }

  /// The processor time of the process, in seconds.
  private var processorTime: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return [usage.ru_utime, usage.ru_stime].reduce(0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
  }

  private func channel(_ target: String, _ group: LoopGroup) throws -> Channel {
    var options = ChannelOptions()
    options.connectInitialBackoff = .milliseconds(10)
    options.connectMaxBackoff = .milliseconds(50)
    return try Channel(target: target, options: options, group: group)
  }

  /// Retried twice, after backoff.
  private static let retried = CallOptions.with {
    $0.serviceConfig = try? ServiceConfig(
      json: """
        {"methodConfig": [{"name": [{}], "retryPolicy": {
          "maxAttempts": 3, "initialBackoff": "0.01s", "maxBackoff": "0.01s", "backoffMultiplier": 1,
          "retryableStatusCodes": ["UNAVAILABLE"]
        }}]}
        """
    )
  }
}

extension GRPCStatus {
  /// The same in every run.
  fileprivate var withoutPort: String {
    description.split(separator: ":", omittingEmptySubsequences: false)
      .filter { Int($0) == nil }.joined(separator: ":")
  }
}

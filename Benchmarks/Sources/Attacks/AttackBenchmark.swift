import BenchService
import Glibc
import Switchboard
import TLSSupport

/// Attacks a local server for a while from one thread, as fast as possible.
struct AttackBenchmark {
  private let attack: Attack
  private let port: UInt16
  private let seconds: Int

  init(_ arguments: inout Arguments) throws {
    let name = try arguments.next("ATTACK")
    guard let attack = Attack.all.first(where: { $0.name == name }) else {
      throw Arguments.Misuse(
        text: "unknown attack '\(name)': expected one of \(Attack.names.joined(separator: ", "))"
      )
    }
    self.attack = attack
    port = UInt16(clamping: try arguments.nextCount("PORT"))
    seconds = try arguments.nextCount("SECONDS")
    try arguments.end()
  }

  func run() async throws -> Figures {
    let end = ContinuousClock.now + .seconds(seconds)
    let began = Self.processorTime
    var tally = Tally()
    switch attack.name {
    case Attack.secureCall.name: try await callSecurely(until: end, &tally)
    case Attack.keyUpdates: try attackSecurely(.tls13, until: end, &tally) { $0.updateKey() }
    case Attack.renegotiation: try attackSecurely(.tls12, until: end, &tally) { $0.renegotiate() }
    default: work(until: end, &tally)
    }
    var figures = Figures("attack")
    figures.add("connections", tally.connections)
    figures.add("sends", tally.sends)
    figures.add("bytes", tally.bytes)
    figures.add("refused", tally.refused)
    figures.add("cpu_us", Self.processorTime - began)
    return figures
  }

  private func work(until end: ContinuousClock.Instant, _ tally: inout Tally) {
    var attackers = Array(repeating: Attacker(attack, port), count: attack.width)
    while ContinuousClock.now < end {
      var isBusy = false
      for index in attackers.indices where attackers[index].step(&tally) { isBusy = true }
      // No attacker has anything to do.
      if !isBusy { usleep(10_000) }
    }
  }

  private func callSecurely(until end: ContinuousClock.Instant, _ tally: inout Tally) async throws {
    var options = ChannelOptions()
    options.security = .tls(BenchTLS.trust)
    let group = try LoopGroup()
    while ContinuousClock.now < end {
      let channel = try Channel(target: "127.0.0.1:\(port)", options: options, group: group)
      _ = try await Bench_BenchClient(channel: channel).unary(Connections.greeting)
      await channel.shutDown(grace: .zero)
      tally.connections += 1
    }
  }

  /// Completes handshakes, and then does the same again and again until the server closes the connection.
  private func attackSecurely(
    _ version: TLSVersion,
    until end: ContinuousClock.Instant,
    _ tally: inout Tally,
    _ attack: (TLSPeer) -> Void
  ) throws {
    while ContinuousClock.now < end {
      guard let socket = AttackSocket(port: port) else {
        tally.refused += 1
        continue
      }
      tally.connections += 1
      let peer = try TLSPeer(.client, version: version)
      peer.shakeHands()
      tally.bytes += socket.send(peer.takeOutput())
      while !peer.isSecure, !socket.isDismissed {
        let bytes = socket.read()
        guard !bytes.isEmpty else { break }
        peer.take(bytes)
        tally.bytes += socket.send(peer.takeOutput())
      }
      peer.write(AttackFrame.greeting)
      while peer.isSecure, !socket.isDismissed, ContinuousClock.now < end {
        for _ in 0..<100 { attack(peer) }
        tally.bytes += socket.send(peer.takeOutput())
        tally.sends += 1
      }
    }
  }

  private static var processorTime: Int {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    let times = [usage.ru_utime, usage.ru_stime]
    return times.reduce(0) { $0 + Int($1.tv_sec) * 1_000_000 + Int($1.tv_usec) }
  }
}

/// The totals of an attack.
private struct Tally {
  var connections = 0
  var sends = 0
  var bytes = 0
  var refused = 0
}

/// An attacker with one connection after the other.
private struct Attacker {
  private let attack: Attack
  private let port: UInt16
  private var socket: AttackSocket?
  private var next = 0

  init(_ attack: Attack, _ port: UInt16) {
    self.attack = attack
    self.port = port
  }

  /// Returns `false` if there is nothing to do.
  mutating func step(_ tally: inout Tally) -> Bool {
    guard let socket else { return open(&tally) }
    guard next < attack.steps.count, !socket.isDismissed else {
      self.socket = nil
      return true
    }
    let step = attack.steps[next]
    if case .stay = step {
      socket.poll()
      return false
    }
    next += 1
    switch step {
    case .send(let bytes):
      tally.bytes += socket.send(bytes)
      tally.sends += 1
      socket.poll()
    case .answers(let count): socket.wait(forAnswers: count)
    case .anyBytes: socket.waitForBytes()
    case .dismissal: socket.waitForDismissal()
    case .stay: break
    }
    return true
  }

  private mutating func open(_ tally: inout Tally) -> Bool {
    guard let connected = AttackSocket(port: port, speaksHTTP1: attack.speaksHTTP1) else {
      tally.refused += 1
      return false
    }
    socket = connected
    next = 0
    tally.connections += 1
    return true
  }
}

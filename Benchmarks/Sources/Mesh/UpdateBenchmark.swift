import Foundation
import Switchboard
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardXDS

/// What an update of a control plane costs a client, from the response on the connection to the new picker: processor time, of
/// which the last part, that of the policies, is also shown alone.
struct UpdateBenchmark {
  private let updates: Int

  init(_ arguments: inout Arguments) throws {
    updates = try arguments.nextCount("UPDATES")
    try arguments.end()
  }

  /// Prints a line for each update as soon as it is done, so that the next can be sent.
  func run() async throws {
    let (lines, source) = AsyncStream<String>.makeStream()
    var options = ChannelOptions()
    options.resolvers = [Diverted(source: source)]
    options.security = .plaintext
    let channel = try Channel(target: "xds:///bench", options: options)
    channel.connect()
    for await line in lines.prefix(updates) {
      print(line)
      fflush(nil)
    }
    await channel.shutDown(grace: .zero)
  }
}

/// The resolver of `xds:` targets, whose results go to policies that make no connections, and not to the channel.
private struct Diverted: Resolver {
  let source: AsyncStream<String>.Continuation

  var schemes: [String] { ["xds"] }

  func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
    let meter = UpdateMeter(source)
    let diverted = ResolverUpdates(eventLoop: updates.eventLoop, time: updates.time, pace: updates.pace) {
      meter.take($0)
    }
    return XDSResolver().start(target, diverted)
  }
}

/// Gives each config to its policies, and says what that cost.
private final class UpdateMeter: @unchecked Sendable {
  // Sendable because only the channel's loop uses it.
  private let source: AsyncStream<String>.Continuation
  private let host = IdleHost(connects: true)
  private lazy var child = ChildBalancer(host)
  private var last = ProcessTime.nanoseconds

  init(_ source: AsyncStream<String>.Continuation) { self.source = source }

  func take(_ result: ResolverResult) {
    guard let choice = result.policy else { return }
    let start = ProcessTime.nanoseconds
    host.subchannels.removeAll { $0.isShutDown }
    do {
      try child.update([], choice)
    } catch { source.yield("failed: \(error)") }
    let end = ProcessTime.nanoseconds
    let (whole, policies) = (Int((end - last) / 1000), Int((end - start) / 1000))
    source.yield("update cpu_us=\(whole) policies_us=\(policies) servers=\(host.subchannels.count)")
    last = ProcessTime.nanoseconds
  }
}

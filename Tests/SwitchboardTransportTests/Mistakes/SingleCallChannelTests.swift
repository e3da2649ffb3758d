import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A program that makes a channel for each call learns that it needs only one.
@Suite(.timeLimit(.minutes(5))) struct SingleCallChannelTests {
  private static let second: UInt64 = 1_000_000_000

  /// How many of `count` channels to a target, each open for a millisecond, are reported if one ends every `interval`.
  private func reports(
    _ channels: SingleCallChannels,
    _ target: String = "shop:80",
    count: Int,
    from start: UInt64 = 0,
    every interval: UInt64
  ) -> Int {
    (0..<count).count {
      let end = start + UInt64($0) * interval + 1_000_000
      return channels.add(target, from: end - 1_000_000, to: end)
    }
  }

  @Test func twentyInTenSecondsAreReportedOnce() {
    let channels = SingleCallChannels()
    #expect(reports(channels, count: 19, every: Self.second / 2) == 0)
    #expect(reports(channels, count: 1, from: 9_500_000_000, every: 0) == 1)
    #expect(reports(channels, count: 1000, from: 20 * Self.second, every: 1000) == 0)
  }

  @Test func fewerAreNot() {
    let channels = SingleCallChannels()
    #expect(reports(channels, count: 1000, every: Self.second * 6 / 10) == 0)
    // After a pause, they count anew.
    #expect(reports(channels, count: 19, from: 1000 * Self.second, every: 1) == 0)
    #expect(reports(channels, count: 19, from: 1100 * Self.second, every: 1) == 0)
  }

  @Test func channelsThatWereOpenForLongAreNot() {
    let channels = SingleCallChannels()
    #expect((0..<100).allSatisfy { _ in !channels.add("shop:80", from: 0, to: 10 * Self.second) })
  }

  @Test func channelsToManyTargetsAreNot() {
    let channels = SingleCallChannels()
    let found = (0..<10_000).filter { reports(channels, "localhost:\($0)", count: 19, every: 1) > 0 }
    #expect(found.isEmpty)
    // There is no room for more, until a while has passed.
    #expect(reports(channels, "other:80", count: 20, every: 1) == 0)
    #expect(reports(channels, "other:80", count: 20, from: 11 * Self.second, every: 1) == 1)
  }

  @Test func whatWasReportedStaysReported() {
    let channels = SingleCallChannels()
    for number in 0..<2 * SingleCallChannels.mostTargets {
      let start = UInt64(number) * 20 * Self.second
      let isKept = number < SingleCallChannels.mostTargets
      #expect(reports(channels, "shop:\(number)", count: 20, from: start, every: 1) == (isKept ? 1 : 0))
    }
    #expect(reports(channels, "shop:0", count: 20, from: 10_000 * Self.second, every: 1) == 0)
  }

  // MARK: Channels

  /// Channels are made until the log has a warning: a busy machine may take more than ten seconds for the first twenty.
  @Test(arguments: [true, false]) func channelsThatMakeOneCallAreNamed(_ areShutDown: Bool) async throws {
    let entries = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withServer([TestService()]) { _, address async throws in
      var count = 0
      while entries.all.isEmpty, !Task.isCancelled {
        let channel = try Channel(target: "\(address)", options: options)
        #expect(try await Caller(channel: channel).get() == [1, 2, 3])
        count += 1
        if areShutDown { await channel.shutDown() }
      }
      let entry = try #require(entries.all.first)
      #expect(count >= SingleCallChannels.limit)
      #expect(entry.message.hasPrefix("channels are made for single calls, and each has to connect anew: "))
      #expect(entry.metadata == ["target": "\(address)", "channels": "20", "within": "10 s"])
    }
  }

  /// Two calls are no single one, and a call that reaches nobody has another problem.
  @Test func otherChannelsAreNot() async throws {
    let entries = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withServer([TestService()]) { _, address async throws in
      for _ in 0..<2 * SingleCallChannels.limit {
        for target in ["\(address)", "unix:/nowhere/\(address)"] {
          let channel = try Channel(target: target, options: options)
          for _ in 0..<(target.hasPrefix("unix") ? 1 : 2) {
            _ = await status { _ = try await Caller(channel: channel).get() }
          }
          await channel.shutDown(grace: .zero)
        }
        let unused = try Channel(target: "\(address)", options: options)
        await unused.shutDown(grace: .zero)
      }
    }
    #expect(entries.all.filter { $0.message.hasPrefix("channels are made") }.isEmpty)
  }

  /// A server that accepts connections and says nothing has not been reached.
  @Test func channelsToASilentServerAreNot() async throws {
    let entries = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let listener = try FrameListener()
    for _ in 0..<2 * SingleCallChannels.limit {
      let channel = try Channel(target: listener.target, options: options)
      let call = channel.call(TestService.get, options: CallOptions(timeout: .milliseconds(5)))
      #expect(await status { _ = try await call.unary([]) }?.code == .deadlineExceeded)
      await channel.shutDown(grace: .zero)
    }
    #expect(entries.all.filter { $0.message.hasPrefix("channels are made") }.isEmpty)
  }
}

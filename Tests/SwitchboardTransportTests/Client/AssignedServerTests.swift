import SwitchboardBalancing
import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct AssignedServerTests {
  private final class Tracker: LoadTracker {
    let wantsLoadReport: Bool

    init(wantsLoadReport: Bool) { self.wantsLoadReport = wantsLoadReport }
    func callEnded(_ outcome: CallOutcome) {}
  }

  private final class Observer: SubchannelObserver {
    func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {}
  }

  /// A server without a connection.
  private func subchannel() throws -> HTTP2Subchannel {
    let group = try LoopGroup()
    let channel = try HTTP2ClientTransport(target: "unix:/nowhere", options: ChannelOptions(), group: group)
    return HTTP2Subchannel(channel, number: 1, [], SubchannelOptions(), Observer())
  }

  /// Adds a field of a response that reports a load.
  private func report(_ load: Double, to server: inout AssignedServer) {
    var report = LoadReport()
    report.cpuUtilization = load
    let value = Array(Base64.encode(report.serializedBytes))
    Array("\(LoadReportMessages.trailer)".utf8).withUnsafeBufferPointer { name in
      value.withUnsafeBufferPointer { server.noteReport(name, $0) }
    }
  }

  @Test func aServerIsLeftOnceWithItsTracker() throws {
    var server = AssignedServer()
    #expect(server.subchannel == nil && server.leave() == nil)
    let (subchannel, tracker) = (try subchannel(), Tracker(wantsLoadReport: false))
    server.assign(subchannel, tracker)
    #expect(server.subchannel === subchannel && server.tracker === tracker)
    #expect(server.leave() === tracker && server.subchannel == nil && server.leave() == nil)
  }

  @Test(arguments: [false, true]) func aLoadIsReportedToATrackerThatWantsIt(_ wantsLoadReport: Bool) throws {
    var server = AssignedServer()
    server.assign(try subchannel(), Tracker(wantsLoadReport: wantsLoadReport))
    report(0.5, to: &server)
    _ = server.leave()
    let outcome = server.outcome(.ok)
    #expect(outcome.status == .ok && outcome.loadReport?.cpuUtilization == (wantsLoadReport ? 0.5 : nil))
  }

  @Test func nobodyWantsTheLoadOfAServerThatWasNotPicked() {
    var server = AssignedServer()
    report(0.5, to: &server)
    let outcome = server.outcome(nil)
    #expect(outcome.status == nil && outcome.loadReport == nil)
  }
}

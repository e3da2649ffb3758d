import FaultSupport
import Foundation
import HTTP2TestSupport
import Switchboard
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A process without free descriptors reports it, does not spin, does not crash, and recovers. `FaultSubject` runs the
/// scenarios, because other tests need their descriptors.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct DescriptorTests {
  @Test func clientsAndServersRecoverFromExhaustedDescriptors() throws {
    let subject = try ChildProcess.faultSubject(["descriptors"])
    #expect(
      subject.allOutput() == """
        connected: ok (0): OK
        connected before: ok (0): OK
        connecting: unavailable (14): cannot connect to 127.0.0.1: too many open files
        by name: unavailable (14): localhost was not found: too many open files
        retrying: unavailable (14): cannot connect to 127.0.0.1: too many open files
        loops: resource exhausted (8): the system has no resources for another event loop
        connecting again: ok (0): OK
        log: cannot accept connections for now: too many open files
        busy meanwhile: false
        log: accepting connections again
        accepted: ok (0): OK
        shut down: unavailable (14)

        """
    )
    #expect(subject.exitCode() == 0)
  }

  /// Whatever the number of free descriptors, too few for a first loop are an error and not a crash.
  @Test(arguments: 0...12) func theFirstLoopFailsWithoutDescriptors(_ left: Int) throws {
    let subject = try ChildProcess.faultSubject(["start", "\(left)"])
    let first = left < 8 ? "nothing left" : "started"
    #expect(subject.allOutput() == "\(first)\nstarted\n")
    #expect(subject.exitCode() == 0)
  }

  /// More clients than descriptors: the server stops accepting before the last descriptors are used, because Dispatch
  /// would abort the process without them; connected clients are still served.
  @Test func serversLeaveSpareDescriptors() async throws {
    let subject = try ChildProcess.faultSubject(["serve", "128"])
    let port = try #require(subject.line().flatMap { Int($0) })
    let early = try Channel(target: "127.0.0.1:\(port)", options: .impatient)
    #expect(await early.ping() == .ok)
    var crowd: [RawPeer] = []
    for _ in 0..<200 { crowd.append(try RawPeer(port: port)) }
    #expect(subject.line() == "log: cannot accept connections for now: too many open files")
    let late = try Channel(target: "127.0.0.1:\(port)", options: .impatient)
    let patient = Task { await late.ping(.patient) }
    // Longer than the second between Dispatch's checks.
    try await Task.sleep(for: .milliseconds(1500))
    #expect(await early.ping() == .ok)
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(subject.identifier)/fd").count
    #expect((100..<120).contains(open))
    crowd = []
    #expect(await patient.value == .ok)
    await early.shutDown(grace: .zero)
    await late.shutDown(grace: .zero)
    subject.stop()
    #expect(subject.exitCode() == 0)
  }

  /// Each time, it can accept only a few of the connections that clients have given up, and gets their descriptors back.
  @Test func aServerWithFewDescriptorsRecoversAtOnce() async throws {
    let subject = try ChildProcess.faultSubject(["serve", "24"])
    let port = try #require(subject.line().flatMap { Int($0) })
    var crowd: [RawPeer] = []
    for _ in 0..<200 { crowd.append(try RawPeer(port: port)) }
    #expect(subject.line() == "log: cannot accept connections for now: too many open files")
    let late = try Channel(target: "127.0.0.1:\(port)", options: .impatient)
    let patient = Task { await late.ping(.patient) }
    crowd = []
    #expect(await patient.value == .ok)
    // Once, and not for each few.
    #expect(subject.line() == "log: accepting connections again")
    await late.shutDown(grace: .zero)
    subject.stop()
    #expect(subject.allOutput() == "")
    #expect(subject.exitCode() == 0)
  }
}

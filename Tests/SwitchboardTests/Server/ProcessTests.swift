import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// A server in its own process, and what the system does to it.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct ProcessTests {
  @Test func aSignalLetsCallsFinish() async throws {
    let process = try EchoProcess()
    try await withChannel(to: process.target) { channel async throws in
      let client = Echo_EchoClient(channel: channel)
      let calls = (0..<20).map { _ in client.makeUpdateCall() }
      for call in calls { try await call.requestStream.send(Echo_EchoRequest("before")) }
      var readers = calls.map { $0.responseStream.makeAsyncIterator() }
      for index in readers.indices {
        #expect(try await readers[index].next()?.text.hasSuffix("before") == true)
      }
      process.terminate()
      // The server has announced that it accepts no more calls; those in flight go on.
      for await state in channel.connectivity where state == .idle { break }
      for call in calls {
        try await call.requestStream.send(Echo_EchoRequest("after"))
        call.requestStream.finish()
      }
      for index in readers.indices {
        #expect(try await readers[index].next()?.text.hasSuffix("after") == true)
        #expect(try await readers[index].next() == nil)
      }
      for call in calls { #expect(await call.status.isOk) }
      #expect(process.waitForExit() == 0)
    }
  }

  /// Also if the shell has it ignored, as for what a script starts in the background.
  @Test(arguments: [":", "trap '' INT TERM"], [SIGINT, SIGTERM])
  func aSecondSignalEndsTheProcess(_ preparation: String, _ signal: Int32) async throws {
    let process = try EchoProcess(after: preparation)
    try await withChannel(to: process.target) { channel async throws in
      let call = Echo_EchoClient(channel: channel).makeUpdateCall()
      try await call.requestStream.send(Echo_EchoRequest("before"))
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next()?.text.hasSuffix("before") == true)
      process.send(signal)
      for await state in channel.connectivity where state == .idle { break }
      try await call.requestStream.send(Echo_EchoRequest("after"))
      #expect(try await responses.next()?.text.hasSuffix("after") == true)
      process.send(signal)
      #expect(process.waitForExit() == 128 + signal)
      #expect(await call.status.code == .unavailable)
    }
  }

  @Test func theServerSurvivesRunningOutOfFiles() async throws {
    let process = try EchoProcess(after: "ulimit -n 24")
    var idle: [Int32] = []
    for _ in 0..<60 { idle.append(try LoopbackSocket.connected(to: process.port)) }
    for descriptor in idle { close(descriptor) }
    try await withChannel(to: process.target) { channel async throws in
      #expect(
        try await Echo_EchoClient(channel: channel).get(Echo_EchoRequest("hello")).text.hasSuffix("hello")
      )
    }
    process.terminate()
    #expect(process.waitForExit() == 0)
  }
}

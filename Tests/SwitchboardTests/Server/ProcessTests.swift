import EchoService
import Foundation
import Switchboard
import TestSupport
import Testing

/// A server as a process of its own, under what the system does to it.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(1))) struct ProcessTests {
  @Test func aSignalLetsCallsFinish() async throws {
    let process = try EchoProcess()
    let channel = try Channel(target: process.target)
    let client = Echo_EchoClient(channel: channel)
    let calls = (0..<20).map { _ in client.makeUpdateCall() }
    for call in calls { try await call.requestStream.send(Echo_EchoRequest("before")) }
    var readers = calls.map { $0.responseStream.makeAsyncIterator() }
    for index in readers.indices {
      #expect(try await readers[index].next()?.text.hasSuffix("before") == true)
    }
    process.terminate()
    // The server has said that it takes no more calls; those under way are not hurried.
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
    await channel.shutDown(grace: .zero)
  }

  @Test func runningOutOfFilesIsOutlived() async throws {
    let process = try EchoProcess(maxOpenFiles: 24)
    var idle: [Int32] = []
    for _ in 0..<60 {
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = in_port_t(process.port).bigEndian
      address.sin_addr.s_addr = inet_addr("127.0.0.1")
      let result = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      #expect(result == 0)
      idle.append(descriptor)
    }
    for descriptor in idle { close(descriptor) }
    let channel = try Channel(target: process.target)
    #expect(
      try await Echo_EchoClient(channel: channel).get(Echo_EchoRequest("hello")).text.hasSuffix("hello")
    )
    await channel.shutDown(grace: .zero)
    process.terminate()
    #expect(process.waitForExit() == 0)
  }
}

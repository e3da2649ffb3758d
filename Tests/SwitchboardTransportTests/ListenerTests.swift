import CallTestSupport
import Foundation
import HTTP2TestSupport
import SwitchboardCall
import Synchronization
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct AcceptPauseTests {
  /// It does not spin while nothing is accepted, and does not wait long once something is.
  @Test func pausesGrowUntilSomethingIsAccepted() {
    var pause = AcceptPause()
    for _ in 0..<2 {
      #expect(
        (0..<9).map { _ in pause.next() } == [1, 2, 4, 8, 16, 32, 64, 100, 100].map { .milliseconds($0) }
      )
      pause.accepted()
    }
  }
}

@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "listener-\(UUID().uuidString)")
    .path

  @Test(arguments: [("example.com", 0), ("127.0.0.1", 65_536), ("127.0.0.1", -1)])
  func anAddressThatIsNoneIsExplained(_ host: String, _ port: Int) throws {
    let refused = #expect(throws: GRPCStatus.self) { try Server(providers: []).bind(host: host, port: port) }
    let wanted = "the host must be a numeric address or localhost, and the port 0 to 65535"
    #expect(refused?.message == "cannot listen on \(host):\(port): \(wanted)")
  }

  @Test func aStoppedServerDoesNotListen() async throws {
    let server = try Server(providers: [])
    await server.shutDown(grace: .zero)
    let status = await status { _ = try server.bind(unixPath: path) }
    #expect(status == .serverStopped)
    // It accepts no connections, and nothing of it remains.
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func anAbstractNameIsFreeOnceItsListenerIsClosed() async throws {
    let name = "switchboard-\(UUID().uuidString)"
    let target = "unix-abstract:\(name)"
    for _ in 0..<2 {
      let server = try Server(providers: [TestService()])
      let address = try server.bind(unixAbstractName: name)
      #expect(address.description == target && address.host == name && address.port == 0)
      let other = try Server(providers: [])
      let refused = await status { _ = try other.bind(unixAbstractName: name) }
      #expect(refused?.message == "cannot listen on \(target): address already in use")
      let channel = try Channel(target: target)
      #expect(try await Caller(channel: channel).get() == [1, 2, 3])
      await channel.shutDown(grace: .zero)
      await server.shutDown(grace: .zero)
      // Loops close listeners on their own threads.
      while !Task.isCancelled, await status(of: { try await self.connect(target) }) == nil {
        await Task.yield()
      }
    }
    let failure = await status { try await self.connect(target) }
    #expect(failure?.message == "cannot connect to \(target): connection refused")
  }

  private func connect(_ target: String) async throws {
    let channel = try Channel(target: target)
    let result: Result<[UInt8], any Error>
    do { result = .success(try await Caller(channel: channel).get()) } catch { result = .failure(error) }
    await channel.shutDown(grace: .zero)
    _ = try result.get()
  }

  @Test(arguments: ["", "a\0b", String(repeating: "a", count: 108)])
  func namesThatAreNotOfAbstractSocketsAreRefused(_ name: String) async throws {
    let server = try Server(providers: [])
    let failure = await status { _ = try server.bind(unixAbstractName: name) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == "not a name of an abstract unix socket: \(name)")
  }

  @Test func aLongAbstractNameIsUsedWhole() async throws {
    let name = UUID().uuidString + String(repeating: "é", count: 35) + "x"
    #expect(name.utf8.count == 107)
    let server = try Server(providers: [TestService()])
    #expect(try server.bind(unixAbstractName: name).host == name)
    try await connect("unix-abstract:\(name)")
    await server.shutDown(grace: .zero)
  }

  @Test func aListenerThatIsClosedBeforeItIsOpenStaysClosed() async throws {
    let address = try #require(SocketAddress.unix(path: path))
    let group = try LoopGroup()
    let loop = group.loops[0]
    let listener = try Listener(address, on: loop, accepted: { descriptor, _, _ in close(descriptor) })
    listener.close()
    #expect(listener.start())
    #expect(await loop.onLoop { loop.openHandles } == 0)
    #expect(!FileManager.default.fileExists(atPath: path))
  }
}

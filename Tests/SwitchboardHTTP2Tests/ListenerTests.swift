import Foundation
import HTTP2TestSupport
import SwitchboardCall
import Synchronization
import Testing

@testable import SwitchboardHTTP2

@Suite(.timeLimit(.minutes(5))) struct ListenerTests {
  private let path = FileManager.default.temporaryDirectory.appending(path: "listener-\(UUID().uuidString)")
    .path

  @Test func aStoppedServerDoesNotListen() async throws {
    let server = try Server(providers: [])
    await server.shutDown(grace: .zero)
    let status = await status { _ = try server.bind(unixPath: path) }
    #expect(status == .serverStopped)
    // It accepts no connections, and nothing of it remains.
    #expect(!FileManager.default.fileExists(atPath: path))
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

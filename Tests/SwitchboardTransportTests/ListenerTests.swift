import CallTestSupport
import Foundation
import Glibc
import HTTP2TestSupport
import ServerTestSupport
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

  private static let names =
    "names are not looked up; write localhost, the numeric address of an interface, or 0.0.0.0 for all of them"
  private static let all =
    "for all addresses of the machine write host: \"0.0.0.0\", or \"::\" for those of IPv6"
  private static let ports = "the port must be 0 to 65535, and 0 lets the system choose one"

  @Test(arguments: [
    ("example.com", 0, names), ("example.com:443", 0, names), ("http://example.com", 80, names),
    ("127.0.0.1", 65_536, ports), ("127.0.0.1", -1, ports), ("localhost", -1, ports), ("", 50051, all),
    ("*", 50051, all), ("127.0.0.1:50051", 0, "write bind(host: \"127.0.0.1\", port: 50051)"),
    ("http://127.0.0.1:80/x", 0, "write bind(host: \"127.0.0.1\", port: 80)"),
    ("dns:///localhost", 50051, "write bind(host: \"localhost\", port: 50051)"),
    ("[::1]", 7, "write bind(host: \"::1\", port: 7)"), ("[::1]:8", 7, "write bind(host: \"::1\", port: 8)"),
    ("unix:/run/shop.sock", 0, "write bind(unixPath: \"/run/shop.sock\")"),
  ])
  func anAddressThatIsNoneIsExplained(_ host: String, _ port: Int, _ advice: String) throws {
    let refused = #expect(throws: GRPCStatus.self) { try Server(providers: []).bind(host: host, port: port) }
    #expect(refused?.code == .invalidArgument)
    #expect(refused?.message == "cannot listen on \(host):\(port): \(advice)")
  }

  /// The system takes an empty path, and one that begins with zero, for names that are open to all users.
  @Test(arguments: ["", "\0shop", String(repeating: "a", count: 108)])
  func whatIsNoPathIsRefused(_ path: String) throws {
    let refused = #expect(throws: GRPCStatus.self) { try Server(providers: []).bind(unixPath: path) }
    #expect(refused?.code == .invalidArgument)
    #expect(refused?.message?.contains("not a path of a Unix socket, which has 1 to 107 bytes") == true)
  }

  @Test func aFileThatIsNoSocketIsLeftAlone() throws {
    try Data("mine".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let refused = #expect(throws: GRPCStatus.self) { try Server(providers: []).bind(unixPath: path) }
    let what = "a file is there that is no socket; remove it, or choose another path"
    #expect(refused?.message == "cannot listen on unix:\(path): \(what)")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
  }

  /// A server that is started a second time finds out that the first one lives, which does not learn of it.
  @Test func aServerThatServesAPathIsNotDisturbed() async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .debug)
    let server = try Server(providers: [TestService()], options: options)
    try server.bind(unixPath: path)
    let refused = #expect(throws: GRPCStatus.self) { try Server(providers: []).bind(unixPath: path) }
    #expect(refused?.message == "cannot listen on unix:\(path): address already in use")
    // It accepts connections in their order.
    try await connect("unix:\(path)")
    await server.shutDown()
    #expect(entries.all.filter { $0.message == "connection opened" }.count == 1)
    #expect(entries.all(from: .info).isEmpty, "\(entries.all)")
  }

  /// gVisor refuses a socket of datagrams in the same way whether a server of streams lives or not.
  @Test func whereAllDatagramsAreRefusedALivingServerKeepsItsFile() throws {
    let address = try #require(SocketAddress.unix(path: path))
    let connectingAsInGVisor: ListeningSocket.Connecting = { descriptor, address, length in
      var (type, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
      getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size)
      guard type == Int32(SOCK_DGRAM.rawValue) else {
        return Glibc.connect(descriptor, address, length)
      }
      errno = ECONNREFUSED
      return -1
    }
    let descriptor = try ListeningSocket.open(address)
    ListeningSocket.removeStaleSocket(path, address, connectingAsInGVisor)
    #expect(FileManager.default.fileExists(atPath: path))
    close(descriptor)
    ListeningSocket.removeStaleSocket(path, address, connectingAsInGVisor)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func aFileThatAKilledServerLeftIsReplaced() async throws {
    let address = try #require(SocketAddress.unix(path: path))
    close(try ListeningSocket.open(address))
    #expect(FileManager.default.fileExists(atPath: path))
    let server = try Server(providers: [TestService()])
    try server.bind(unixPath: path)
    try await connect("unix:\(path)")
    await server.shutDown(grace: .zero)
  }

  @Test func aStoppedServerDoesNotListen() async throws {
    let server = try Server(providers: [])
    await server.shutDown(grace: .zero)
    let status = await status { _ = try server.bind(unixPath: path) }
    #expect(status == .serverStopped)
    // It accepts no connections, and nothing of it remains.
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  /// Its socket is closed then, and not soon after.
  @Test func anAddressIsFreeOnceItsServerIsShutDown() async throws {
    for _ in 0..<20 {
      let server = try Server(providers: [])
      try server.bind(unixPath: path)
      await server.shutDown(grace: .zero)
      #expect(!FileManager.default.fileExists(atPath: path))
    }
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
      try await withChannel(to: target) { channel async throws in
        #expect(try await Caller(channel: channel).get() == [1, 2, 3])
      }
      await server.shutDown(grace: .zero)
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
    #expect(failure?.message == "not a name of an abstract Unix socket: \(name)")
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

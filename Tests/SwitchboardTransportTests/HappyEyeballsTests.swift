import Glibc
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Connecting to the first of several addresses that answers, with real sockets and a controlled clock.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HappyEyeballsTests {
  /// Far longer than any test runs.
  private static let delay = Duration.seconds(3600)

  private func address(_ host: String, port: Int = 0) throws -> SocketAddress {
    try #require(SocketAddress.numeric(host, port: port))
  }

  /// Connects, and returns the result and the remaining addresses.
  private func connect(
    _ addresses: [SocketAddress],
    _ meanwhile: (Loop) async -> Void = { _ in }
  ) async throws -> (isConnected: Bool, left: [SocketAddress]) {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let finished = Signal()
    let outcome = Locked<(Bool, [SocketAddress])>((false, []))
    await loop.onLoop {
      var connector: Connector?
      connector = Connector(addresses, on: loop, delay: Self.delay) { result in
        let left = connector?.remaining ?? []
        if case .success(let socket) = result {
          socket.socket.close()
          outcome.withLock { $0 = (true, left) }
        }
        connector = nil
        finished.fire()
      }
      connector?.start()
    }
    await meanwhile(loop)
    await finished.wait()
    return outcome.withLock { $0 }
  }

  @Test func aRefusingAddressIsSkippedAtOnce() async throws {
    let listener = try FrameListener()
    let refusing = try ListeningSocket.open(try address("::1"))
    let refused = try #require(ListeningSocket.name(of: refusing))
    close(refusing)
    let (isConnected, left) = try await connect([refused, try address("127.0.0.1", port: listener.port)])
    #expect(isConnected)
    #expect(left.isEmpty)
  }

  @Test func aSilentAddressIsSkippedAfterTheDelay() async throws {
    let listener = try FrameListener()
    let silent = try SilentAddress()
    let (isConnected, left) = try await connect([
      silent.address, try address("127.0.0.1", port: listener.port),
    ]) { loop in
      await loop.advance(by: Self.delay)
    }
    #expect(isConnected)
    // It may still answer, and would be tried again.
    #expect(left == [silent.address])
    #expect(Connector.attemptDelay == .milliseconds(250))
  }

  @Test func whenNoAddressAnswersTheLastErrorIsReported() async throws {
    let refusing = try ListeningSocket.open(try address("127.0.0.1"))
    let refused = try #require(ListeningSocket.name(of: refusing))
    close(refusing)
    let (isConnected, _) = try await connect([refused, refused])
    #expect(!isConnected)
  }

  @Test func anAddressWhoseHandshakeFailsIsSkipped() async throws {
    let broken = try FrameListener()
    try await withServer([TestService()]) { _, good async throws in
      let target = "ipv4:127.0.0.1:\(broken.port),127.0.0.1:\(good.port)"
      try await withChannel(to: target) { channel async throws in
        let call = Task(executorPreference: channel.eventLoop) { try await Caller(channel: channel).get() }
        broken.acceptRaw().send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
        #expect(try await call.value == [1, 2, 3])
      }
    }
  }

  /// An address that never answers: its listener's queue is full, so the system drops packets.
  private final class SilentAddress {
    private let listener: Int32
    private var fillers: [Int32] = []
    let address: SocketAddress

    init() throws {
      let anywhere = try #require(SocketAddress.numeric("::1", port: 0))
      listener = try ListeningSocket.open(anywhere)
      // A second call to `listen` replaces the length of the queue.
      listen(listener, 0)
      let address = try #require(ListeningSocket.name(of: listener))
      self.address = address
      for _ in 0..<4 {
        let filler = socket(
          AF_INET6,
          Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
          0
        )
        _ = address.withSockaddr { Glibc.connect(filler, $0, $1) }
        fillers.append(filler)
      }
    }

    deinit {
      for filler in fillers { close(filler) }
      close(listener)
    }
  }
}

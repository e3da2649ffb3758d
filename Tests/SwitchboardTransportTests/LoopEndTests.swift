import Glibc
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import Synchronization
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Work for a loop that has ended still runs, or its owner learns that it does not.
@Suite(.timeLimit(.minutes(5))) struct LoopEndTests {
  /// A loop whose thread has ended.
  private func endedLoop() async throws -> Loop {
    let group = try LoopGroup()
    let loop = group.loops[0]
    group.shutDown()
    while !Task.isCancelled, (try? await loop.sleep(for: .zero)) != nil {}
    return loop
  }

  @Test func workIsDoneInOrderAndOnePieceAtATime() async throws {
    let loop = try await endedLoop()
    let order = Locked<[Int]>([])
    let atOnce = Atomic(0)
    let highest = Atomic(0)
    await withCheckedContinuation { continuation in
      for number in 0..<1000 {
        loop.execute {
          highest.max(atOnce.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
          order.withLock { $0.append(number) }
          #expect(loop.inEventLoop)
          atOnce.subtract(1, ordering: .relaxed)
          // New work is queued after existing work, as on a loop.
          if number == 999 { loop.execute { continuation.resume() } }
        }
      }
    }
    #expect(order.withLock { $0 } == Array(0..<1000))
    #expect(highest.load(ordering: .relaxed) == 1)
    #expect(!loop.inEventLoop)
  }

  @Test func workOfManyThreadsIsDone() async throws {
    let loop = try await endedLoop()
    let count = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<500 {
        group.addTask {
          await withCheckedContinuation { continuation in
            loop.execute {
              count.add(1)
              continuation.resume()
            }
          }
        }
      }
    }
    #expect(count.value == 500)
  }

  /// An owner that can handle it is notified instead.
  @Test func workThatMayBeRejectedDoesNotRun() async throws {
    let loop = try await endedLoop()
    #expect(!loop.add(.closure { Issue.record("it is done") }))
    await withCheckedContinuation { continuation in loop.execute { continuation.resume() } }
  }

  @Test func tasksWithThisPreferenceContinue() async throws {
    let loop = try await endedLoop()
    let task = Task(executorPreference: loop) {
      var isThere = loop.inEventLoop
      for _ in 0..<10 {
        await Task.yield()
        isThere = isThere && loop.inEventLoop
      }
      return isThere
    }
    #expect(await task.value)
    #expect(await Pinned(loop).isOnLoop())
  }

  private actor Pinned {
    private let loop: Loop

    init(_ loop: Loop) { self.loop = loop }

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    func isOnLoop() -> Bool { loop.inEventLoop }
  }

  @Test func anEndedLoopOpensNothing() async throws {
    let loop = try await endedLoop()
    let failure = Locked<[String]>([])
    let address = try #require(SocketAddress.numeric("127.0.0.1", port: 1))
    await withCheckedContinuation { continuation in
      loop.execute {
        var pair: [Int32] = [0, 0]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        defer { close(pair[0]) }
        #expect(Socket.adopt(pair[1], .unix(path: ""), on: loop) == nil)
        // The other end of a closed socket is readable, and at its end.
        var byte: UInt8 = 0
        #expect(recv(pair[0], &byte, 1, Int32(MSG_DONTWAIT)) == 0)
        SignalWatcher([SIGWINCH], on: loop) {}.finish()
        loop.names.addresses(of: "localhost", port: 1) { result in
          if case .failure(let status) = result { failure.withLock { $0.append(status.message ?? "") } }
        }
        Connector([address], on: loop) { result in
          if case .failure(let error) = result { failure.withLock { $0.append("\(error)") } }
          continuation.resume()
        }
        .start()
      }
    }
    #expect(
      failure.withLock { $0 } == [
        "localhost was not found: the event loop has ended", "operation canceled",
      ]
    )
    await #expect(throws: CancellationError.self) {
      try await Task(executorPreference: loop) { try await loop.sleep(for: .seconds(1)) }.value
    }
  }

  @Test func nothingWaitsForSignalsOnAnEndedLoop() async throws {
    let group = try LoopGroup()
    // The loop ends when nothing listens any more.
    try await withServer([TestService()], group: group) { _, _ in }
    group.shutDown()
    while !Task.isCancelled, (try? await group.loops[0].sleep(for: .zero)) != nil {}
    await withCheckedContinuation { continuation in
      StopRequest([], on: group.loops[0])
        .wait({ Issue.record("nothing is watched for") }) { continuation.resume() }
    }
  }

  /// A thread that wakes a loop must find it alive: it may have woken up on its own and done the work already.
  @Test func aLoopDoesNotEndWhileItIsBeingWoken() {
    let mailbox = Mailbox()
    #expect(mailbox.fallAsleep())
    var wakes = 0
    let isAccepted = mailbox.put(.closure {}) {
      wakes += 1
      mailbox.wakeUp()
      var work: [LoopWork] = []
      mailbox.take(into: &work)
      #expect(work.count == 1)
      #expect(!mailbox.close())
    }
    #expect(isAccepted && wakes == 1)
    #expect(mailbox.close())
    #expect(!mailbox.put(.closure {}) { wakes += 1 })
    #expect(wakes == 1)
  }
}

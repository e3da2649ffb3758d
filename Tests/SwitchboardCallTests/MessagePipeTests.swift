import Testing

@testable import SwitchboardCall

@Suite struct MessagePipeTests {
  private func message(_ byteCount: Int) -> MessageBuffer {
    MessageBuffer([UInt8](repeating: 1, count: byteCount))
  }

  @Test func givesMessagesInOrderAndThenTheEnd() async throws {
    let pipe = MessagePipe(limit: 1000)
    for count in 1...200 { pipe.push(message(count)) }
    pipe.finish()
    for count in 1...200 { #expect(try await pipe.next()?.byteCount == count) }
    #expect(try await pipe.next() == nil)
  }

  @Test func aWriterWaitsWhileThePipeIsFull() async throws {
    let pipe = MessagePipe(limit: 10 + 2 * MessageBuffer.heldOverhead)
    #expect(pipe.push(message(9)))
    #expect(!pipe.push(message(1)))
    let writer = Task {
      try await pipe.write(message(5))
      return true
    }
    #expect(try await pipe.next()?.byteCount == 9)
    #expect(try await pipe.next()?.byteCount == 1)
    #expect(try await writer.value)
    #expect(try await pipe.next()?.byteCount == 5)
  }

  @Test func emptyMessagesCountTowardsTheLimit() {
    let pipe = MessagePipe(limit: 256 * 1024)
    var count = 0
    while pipe.push(message(0)), count < 100_000 { count += 1 }
    #expect(count < 256 * 1024 / MessageBuffer.heldOverhead + 1)
    while case .message = pipe.pop() {}
    #expect(pipe.push(message(0)))
  }

  /// Between a reader's finding nothing and its waiting, a writer may fill the pipe and start to wait.
  @Test func aWaitingReaderResumesAWaitingWriter() async throws {
    let pipe = MessagePipe(limit: 1)
    pipe.push(message(3))
    let writer = Task { try await pipe.waitUntilWritable() }
    while !Task.isCancelled, pipe.queue.state.withLock({ $0.writers.isEmpty }) { await Task.yield() }
    #expect(try await pipe.queue.waitToRead() == nil)
    #expect(try await pipe.next()?.byteCount == 3)
    #expect(pipe.queue.state.withLock { $0.writers.isEmpty })
    pipe.abort(.callEnded)
    _ = await writer.result
  }

  @Test func aWaitingReaderReceivesThePushedMessage() async throws {
    let pipe = MessagePipe(limit: 10)
    async let received = pipe.next()
    pipe.push(message(4))
    #expect(try await received?.byteCount == 4)
  }

  @Test func theReaderSeesAFailureAfterEarlierMessages() async throws {
    let pipe = MessagePipe(limit: 10)
    pipe.push(message(1))
    pipe.finish(GRPCStatus(code: .dataLoss))
    #expect(try await pipe.next()?.byteCount == 1)
    await #expect(throws: GRPCStatus(code: .dataLoss)) { try await pipe.next() }
  }

  @Test func abortingDropsMessagesAndResumesBothSides() async throws {
    let pipe = MessagePipe(limit: 1)
    pipe.push(message(1))
    let writer = Task { try await pipe.write(message(1)) }
    pipe.abort(GRPCStatus(code: .cancelled))
    await #expect(throws: GRPCStatus(code: .cancelled)) { try await writer.value }
    await #expect(throws: GRPCStatus(code: .cancelled)) { try await pipe.next() }
  }

  @Test func afterACancelledReaderAnotherMayRead() async throws {
    let pipe = MessagePipe(limit: 10)
    let reader = Task { try await pipe.next() }
    reader.cancel()
    await #expect(throws: CancellationError.self) { try await reader.value }
    pipe.push(message(2))
    #expect(try await pipe.next()?.byteCount == 2)
  }

  @Test func cancellingOneWaitingWriterLeavesTheOthersWaiting() async throws {
    let pipe = MessagePipe(limit: 1)
    pipe.push(message(1))
    let cancelled = Task { try await pipe.waitUntilWritable() }
    let other = Task { try await pipe.waitUntilWritable() }
    while !Task.isCancelled, pipe.queue.state.withLock({ $0.writers.count < 2 }) { await Task.yield() }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    _ = pipe.pop()
    try await other.value
  }

  @Test func aSecondReaderFailsAndTheFirstContinues() async throws {
    let pipe = MessagePipe(limit: 1)
    let reader = Task { try await pipe.next() }
    while !Task.isCancelled, pipe.queue.state.withLock({ $0.reader == nil }) { await Task.yield() }
    await #expect(throws: GRPCStatus.twoReaders) { try await pipe.next() }
    pipe.push(message(1))
    #expect(try await reader.value?.byteCount == 1)
  }

  @Test func writingAfterTheEndFails() async {
    let pipe = MessagePipe(limit: 10)
    pipe.finish()
    await #expect(throws: GRPCStatus.writeAfterEnd) { try await pipe.write(message(1)) }
    pipe.abort(.callEnded)
    await #expect(throws: GRPCStatus.writeAfterEnd) { try await pipe.write(message(1)) }
  }

  @Test func aWaitingReaderIsWokenOnceForMessagesThatAreFlushedTogether() async throws {
    let pipe = MessagePipe(limit: 10_000)
    let reader = Task { try await (pipe.next(), pipe.next(), pipe.next()) }
    while !Task.isCancelled, pipe.queue.state.withLock({ $0.reader == nil }) { await Task.yield() }
    pipe.push(message(1), flush: false)
    pipe.push(message(2), flush: false)
    #expect(pipe.queue.state.withLock { $0.reader != nil })
    pipe.push(message(3))
    let received = try await reader.value
    #expect([received.0, received.1, received.2].map { $0?.byteCount } == [1, 2, 3])
  }

  @Test(arguments: ["flush", "end", "fullness"])
  func unflushedMessagesReachAWaitingReaderAt(_ event: String) async throws {
    let pipe = MessagePipe(limit: 250)
    let reader = Task { try await pipe.next() }
    while !Task.isCancelled, pipe.queue.state.withLock({ $0.reader == nil }) { await Task.yield() }
    pipe.push(message(1), flush: false)
    switch event {
    case "flush": pipe.flush()
    case "end": pipe.finish()
    default: while pipe.push(message(2), flush: false) {}
    }
    #expect(try await reader.value?.byteCount == 1)
  }

  private final class Observer: MessagePipe.Observer, @unchecked Sendable {
    // Used on one thread only.
    var readable = 0
    var rooms: [MessagePipe.Room] = []
    func pipeBecameReadable(_ pipe: MessagePipe) { readable += 1 }
    func pipe(_ pipe: MessagePipe, wasRead byteCount: Int, leaving room: MessagePipe.Room) {
      rooms.append(room)
    }
    func doElsewhere(_ work: @escaping @Sendable () -> Void, then finish: @escaping @Sendable () -> Void) {
      work()
      finish()
    }
  }

  @Test func observersAreNotifiedWhenAnEmptyPipeBecomesReadable() {
    let observer = Observer()
    let pipe = MessagePipe(limit: 10)
    pipe.attach(observer)
    pipe.push(message(1))
    pipe.push(message(2))
    #expect(observer.readable == 1)
    _ = pipe.pop()
    _ = pipe.pop()
    #expect(observer.rooms == [.none, .much])
    pipe.push(message(1))
    #expect(observer.readable == 2)
  }

  @Test func unflushedMessagesWaitForAFlush() {
    let observer = Observer()
    let pipe = MessagePipe(limit: 1000)
    pipe.attach(observer)
    pipe.push(message(1), flush: false)
    pipe.push(message(1), flush: false)
    #expect(observer.readable == 0)
    pipe.push(message(1))
    #expect(observer.readable == 1)
    for _ in 0..<3 { _ = pipe.pop() }
    pipe.push(message(1), flush: false)
    #expect(observer.readable == 1)
    pipe.finish()
    #expect(observer.readable == 2)
  }

  @Test func aFullPipeIsFlushed() {
    let observer = Observer()
    let pipe = MessagePipe(limit: 10 + 2 * MessageBuffer.heldOverhead)
    pipe.attach(observer)
    pipe.push(message(4), flush: false)
    #expect(observer.readable == 0)
    pipe.push(message(6), flush: false)
    #expect(observer.readable == 1)
  }

  /// The reader must not mistake the earlier messages for all messages.
  @Test func writingATooLargeMessageFails() async {
    let pipe = MessagePipe(limit: 1000)
    pipe.limitMessages(to: .request(10))
    let refusal = MessageLimit.request(10).exceeded(by: 11)
    await #expect(throws: refusal) { try await pipe.write(self.message(11)) }
  }

  @Test func aMessageAboveTheLimitEndsThePipe() {
    let observer = Observer()
    let pipe = MessagePipe(limit: 100)
    pipe.limitMessages(to: .request(5))
    pipe.attach(observer)
    pipe.push(message(5))
    pipe.push(message(6))
    pipe.finish()
    #expect(observer.readable == 2)
    #expect(pipe.refusal?.code == .resourceExhausted)
    guard case .message(let kept) = pipe.pop(), case .failed(let failure) = pipe.pop() else {
      Issue.record("the pipe holds something else than the first message and the failure")
      return
    }
    #expect(kept.byteCount == 5)
    #expect(failure == pipe.refusal)
  }
}

import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Streams that are read twice, dropped, or left by a closure.
@Suite(.timeLimit(.minutes(5))) struct StreamEndTests {
  private struct Unwell: Error {}

  // MARK: Read twice

  @Test(arguments: [Wire.ipv4, .inProcess]) func aSecondReadOfResponsesThrows(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let responses = pair.expand(TestService.expand, [1, 2])
      #expect(try await responses.collected() == [[1], [2]])
      let second = await status { _ = try await responses.collected() }
      #expect(second?.code == .failedPrecondition)
      #expect(second?.message?.contains("read a second time") == true)
    }
  }

  /// The client is not to blame, and does not learn it as if it were.
  @Test(arguments: [Wire.ipv4, .inProcess]) func aSecondReadOfRequestsIsAFaultOfTheHandler(_ wire: Wire)
    async throws
  {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await Ends.with(wire, options) { channel, _ async throws in
      let twice = await status { _ = try await channel.call(Ends.readTwice).clientStreaming([[1]]) }
      #expect(twice?.code == .unknown)
      #expect(twice?.message == "the call failed in the server, whose log says why")
    }
    let entry = entries.all.first
    #expect(entries.all.count == 1)
    #expect(entry?.level == .error)
    #expect(entry?.metadata["error"]?.contains("read a second time") == true)
    #expect(entry?.metadata["method"] == "/test.Ends/ReadTwice")
    #expect(entry?.metadata["call"]?.isEmpty == false)
  }

  /// The handler itself gets the error that says so.
  @Test func aHandlerThatReadsTwiceLearnsIt() async throws {
    try await Ends.with { channel, service async throws in
      _ = try await channel.call(Ends.lookTwice).clientStreaming([[1]])
      #expect(service.outcome.withLock { $0 } == "FAILED_PRECONDITION")
    }
  }

  @Test func aReaderMayContinueWhereAnotherStopped() async throws {
    try await TestPair.with { pair async throws in
      let responses = pair.expand(TestService.expand, [1, 2, 3])
      #expect(try await responses.first { $0 == [2] } == [2])
      #expect(try await responses.collected() == [[3]])
    }
  }

  @Test func aReaderAtTheEndStaysThere() async throws {
    try await TestPair.with { pair async throws in
      var responses = pair.expand(TestService.expand, [1]).makeAsyncIterator()
      #expect(try await responses.next(isolation: nil) == [1])
      for _ in 0..<3 { #expect(try await responses.next(isolation: nil) == nil) }
    }
  }

  @Test func aSecondReadAfterAFailureThrowsTheFailure() async throws {
    try await Ends.with { channel, _ async throws in
      let responses = channel.call(Ends.failAtEnd).bidirectionalStreaming([[1]])
      for _ in 0..<2 {
        let failure = await status { _ = try await responses.collected() }
        #expect(failure == Ends.failure)
      }
    }
  }

  // MARK: Dropped

  @Test(arguments: [Wire.ipv4, .inProcess]) func aCallReleasedWithoutFinishSaysBoth(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      let responses: ResponseStream<[UInt8]>
      do {
        let call = pair.channel.call(TestService.update).makeBidirectionalStreamingCall()
        try await call.requestStream.send([1])
        responses = call.responseStream
      }
      let failure = await status { for try await _ in responses {} }
      #expect(failure == .unfinishedCallReleased)
    }
  }

  /// What is not there is not to blame.
  @Test func aCallReleasedAfterFinishBlamesNoRequests() async throws {
    try await Ends.with { channel, _ async throws in
      let responses: ResponseStream<[UInt8]>
      do {
        let call = channel.call(Ends.neverEnd).makeBidirectionalStreamingCall()
        call.requestStream.finish()
        responses = call.responseStream
      }
      let failure = await status { for try await _ in responses {} }
      #expect(failure == .callObjectReleased)
    }
  }

  @Test func theServerDoesNotTakeDroppedRequestsForAll() async throws {
    try await Ends.with { channel, service async throws in
      do {
        let call = channel.call(Ends.readAll).makeClientStreamingCall()
        try await call.requestStream.send([1])
        await service.hasRead.wait()
      }
      await service.hasEnded.wait()
      #expect(service.outcome.withLock { $0 } == "CANCELLED")
    }
  }

  // MARK: Left by a closure

  @Test(arguments: [Wire.ipv4, .inProcess]) func requestsEndWithTheirClosure(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let all = try await pair.channel.call(TestService.collect).makeClientStreamingCall().use { call in
        for byte in 0..<3 as Range<UInt8> { try await call.requestStream.send([byte]) }
      }
      #expect(all == [0, 1, 2])
      // The closure may finish them itself.
      let same = try await pair.channel.call(TestService.collect).makeClientStreamingCall().use { call in
        try await call.requestStream.send([9])
        call.requestStream.finish()
        #expect(try await call.response == [9])
      }
      #expect(same == [9])
    }
  }

  @Test func anErrorInTheClosureCancelsTheCall() async throws {
    try await Ends.with { channel, service async throws in
      await #expect(throws: Unwell.self) {
        _ = try await channel.call(Ends.readAll).makeClientStreamingCall().use { call in
          try await call.requestStream.send([1])
          await service.hasRead.wait()
          throw Unwell()
        }
      }
      await service.hasEnded.wait()
      #expect(service.outcome.withLock { $0 } == "CANCELLED")
    }
  }

  @Test func aCancelledTaskCancelsTheCallOfItsClosure() async throws {
    try await Ends.with { channel, service async throws in
      let go = Signal()
      let task = Task {
        try await channel.call(Ends.readAll).makeClientStreamingCall().use { call in
          try await call.requestStream.send([1])
          // It does not notice the cancellation itself.
          await go.wait()
        }
      }
      await service.hasRead.wait()
      task.cancel()
      await service.hasEnded.wait()
      #expect(service.outcome.withLock { $0 } == "CANCELLED")
      go.fire()
      await #expect(throws: (any Error).self) { try await task.value }
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func anAnswerBeforeTheLastRequestCounts(_ wire: Wire) async throws
  {
    try await Ends.with(wire) { channel, _ async throws in
      let answer = try await channel.call(Ends.answerAtOnce).makeClientStreamingCall().use { call in
        while true { try await call.requestStream.send([UInt8](repeating: 0, count: 10_000)) }
      }
      #expect(answer == [42])
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func responsesThatNobodyReadsAreCancelled(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      let (first, call) = try await pair.channel.call(TestService.flood).makeServerStreamingCall([1]).use {
        call in
        (try await call.responseStream.first { _ in true }, call)
      }
      #expect(first == [0])
      #expect(await call.status == .leftScope)
    }
  }

  /// What has left the closure says that it should have stayed there.
  @Test(arguments: [Wire.ipv4, .inProcess]) func aCallThatLeavesItsClosureSaysSo(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let leaked = try await pair.channel.call(TestService.flood).makeServerStreamingCall([1]).use { $0 }
      let failure = await status { for try await _ in leaked.responseStream {} }
      #expect(failure == .leftScope)
      #expect(failure?.message?.contains("what uses the call has to be in the closure") == true)
    }
  }

  /// The handler may still have something to do after its last response.
  @Test(arguments: [Wire.ipv4, .inProcess]) func aDialogueIsAwaitedToItsEnd(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let (answers, call) = try await pair.channel.call(TestService.update).makeBidirectionalStreamingCall()
        .use { call in
          var responses = call.responseStream.makeAsyncIterator()
          var answers: [[UInt8]?] = []
          for byte in 0..<3 as Range<UInt8> {
            try await call.requestStream.send([byte])
            answers.append(try await responses.next(isolation: nil))
          }
          return (answers, call)
        }
      #expect(answers == [[0], [1], [2]])
      #expect(await call.status == .ok)
    }
  }

  @Test func aDialogueThatWasReadToItsEndReturns() async throws {
    try await TestPair.with { pair async throws in
      let answers = try await pair.channel.call(TestService.update).makeBidirectionalStreamingCall().use {
        call in
        try await call.requestStream.send([1])
        call.requestStream.finish()
        return try await call.responseStream.collected()
      }
      #expect(answers == [[1]])
    }
  }

  @Test func aDialogueThatFailsAfterItsClosureThrows() async throws {
    try await Ends.with { channel, _ async throws in
      let failure = await status {
        try await channel.call(Ends.failAtEnd).makeBidirectionalStreamingCall().use { call in
          try await call.requestStream.send([1])
        }
      }
      #expect(failure == Ends.failure)
    }
  }

  @Test func aDialogueWithUnreadResponsesIsCancelled() async throws {
    try await Ends.with { channel, _ async throws in
      let call = try await channel.call(Ends.neverEnd).makeBidirectionalStreamingCall().use { call in
        _ = try await call.responseStream.first { _ in true }
        return call
      }
      #expect(await call.status.code == .cancelled)
    }
  }

  /// Its server gets all requests, also if it answers before the last.
  @Test(arguments: [Wire.ipv4, .inProcess], [false, true])
  func aDialogueThatOnlyWritesIsAwaitedToItsEnd(_ wire: Wire, _ intercepted: Bool) async throws {
    try await Ends.with(wire) { channel, service async throws in
      let chain = CallInterceptors([ClientInterceptor<[UInt8], [UInt8]>()])
      let method = MethodCall(Ends.count.bytes, on: channel, interceptors: intercepted ? chain : nil)
      let call = try await method.makeBidirectionalStreamingCall().use { call in
        for byte in 0..<5 as Range<UInt8> { try await call.requestStream.send([byte]) }
        return call
      }
      #expect(await call.status == .ok)
      #expect(service.outcome.withLock { $0 } == "5")
    }
  }

  @Test func aDialogueThatOnlyWritesThrowsItsFailure() async throws {
    try await Ends.with { channel, _ async throws in
      let failure = await status {
        try await channel.call(Ends.answerAndFail).makeBidirectionalStreamingCall().use { call in
          try await call.requestStream.send([1])
        }
      }
      #expect(failure == Ends.failure)
    }
  }

  @Test func aClosureMayCancelADialogue() async throws {
    try await Ends.with { channel, _ async throws in
      let first = try await channel.call(Ends.neverEnd).makeBidirectionalStreamingCall().use { call in
        let first = try await call.responseStream.first { _ in true }
        call.cancel()
        return first
      }
      #expect(first == [1])
    }
  }
}

/// Methods that end in their own ways.
private final class Ends: CallHandlerProvider {
  static let readTwice = MethodDescriptor(service: "test.Ends", method: "ReadTwice", type: .clientStreaming)
  static let lookTwice = MethodDescriptor(service: "test.Ends", method: "LookTwice", type: .clientStreaming)
  static let readAll = MethodDescriptor(service: "test.Ends", method: "ReadAll", type: .clientStreaming)
  static let answerAtOnce = MethodDescriptor(service: "test.Ends", method: "Answer", type: .clientStreaming)
  static let failAtEnd = MethodDescriptor(service: "test.Ends", method: "Fail", type: .bidirectionalStreaming)
  static let answerAndFail = MethodDescriptor(
    service: "test.Ends",
    method: "AnswerAndFail",
    type: .bidirectionalStreaming
  )
  static let count = MethodDescriptor(service: "test.Ends", method: "Count", type: .bidirectionalStreaming)
  static let neverEnd = MethodDescriptor(service: "test.Ends", method: "Stay", type: .bidirectionalStreaming)
  static let failure = GRPCStatus(code: .dataLoss, message: "not stored")

  /// Fires when `readAll` has read a request.
  let hasRead = Signal()
  /// Fires when `readAll` has read all, or has failed to.
  let hasEnded = Signal()
  let outcome = Locked("")

  var serviceName: String { "test.Ends" }

  var methodHandlers: [MethodHandler] {
    [
      Self.readTwice.bytes.clientStreamingHandler { requests, _ in
        for try await _ in requests {}
        for try await _ in requests {}
        return []
      },
      Self.lookTwice.bytes.clientStreamingHandler { [self] requests, _ in
        for try await _ in requests {}
        let second = await status { for try await _ in requests {} }
        outcome.withLock { $0 = second?.code.specName ?? "OK" }
        return []
      },
      Self.readAll.bytes.clientStreamingHandler { [self] requests, _ in
        let status = await status { for try await _ in requests { hasRead.fire() } }
        outcome.withLock { $0 = status?.code.specName ?? "OK" }
        hasEnded.fire()
        return []
      },
      Self.answerAtOnce.bytes.clientStreamingHandler { _, _ in [42] },
      Self.failAtEnd.bytes.bidirectionalStreamingHandler { requests, _, _ in
        for try await _ in requests {}
        throw Self.failure
      },
      Self.answerAndFail.bytes.bidirectionalStreamingHandler { requests, responses, _ in
        for try await request in requests { try await responses.send(request) }
        throw Self.failure
      },
      Self.count.bytes.bidirectionalStreamingHandler { [self] requests, responses, _ in
        var count = 0
        for try await request in requests {
          count += 1
          try await responses.send(request)
        }
        outcome.withLock { [count] in $0 = "\(count)" }
      },
      Self.neverEnd.bytes.bidirectionalStreamingHandler { _, responses, _ in
        try await responses.send([1])
        try await responses.send([2])
        let cancelled = Signal()
        await withTaskCancellationHandler {
          await cancelled.wait()
        } onCancel: {
          cancelled.fire()
        }
      },
    ]
  }

  static func with(
    _ wire: Wire = .ipv4,
    _ options: ServerOptions = ServerOptions(),
    _ body: (Channel, Ends) async throws -> Void
  ) async throws {
    let service = Ends()
    try await withChannel(to: [service], over: wire, options: options) { channel async throws in
      try await body(channel, service)
    }
  }
}

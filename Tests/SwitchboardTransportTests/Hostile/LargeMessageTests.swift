import CallTestSupport
import Dispatch
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import Synchronization
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Messages whose bytes take long to decode, however they come: the loop does not decode large ones, and of small ones only
/// a few before it serves others.
///
/// How long it works is not measured but counted, in messages: the time that a loop may work on messages between two polls
/// is none, so it stops after the least that it can do.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LargeMessageTests {
  private typealias Kind = FramePeer.Kind

  // MARK: Large messages

  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    var method = "Get"
    var compression = MessageCompression.none
    var isIntercepted = false
    var isQuick = false
    var testDescription: String { name }
  }

  private static let attacks: [Attack] = [
    Attack(name: "plain"),
    Attack(name: "plain, intercepted", isIntercepted: true),
    Attack(name: "gzip", compression: .gzip),
    Attack(name: "zstd", compression: .zstd),
    Attack(name: "zstd, intercepted", compression: .zstd, isIntercepted: true),
    Attack(name: "brotli", compression: .brotli),
    Attack(name: "plain in a stream", method: "Collect"),
    Attack(name: "plain in a stream, intercepted", method: "Collect", isIntercepted: true),
    Attack(name: "zstd in a stream", method: "Collect", compression: .zstd),
    Attack(name: "zstd in a stream, intercepted", method: "Collect", compression: .zstd, isIntercepted: true),
    Attack(name: "quick", isQuick: true),
    Attack(name: "quick in a stream", method: "Collect", isQuick: true),
    Attack(name: "quick in a stream, intercepted", method: "Collect", isIntercepted: true, isQuick: true),
  ]

  /// Many calls at once, each with a large message: all of them are decoded and released by other threads, one at a time,
  /// unless their marshaller says that they take no more time than a copy.
  @Test(arguments: attacks) func largeMessagesLeaveTheLoopToOthers(_ attack: Attack) async throws {
    let record = DecodingRecord()
    let group = try LoopGroup()
    var options = ServerOptions()
    if attack.isIntercepted { options.interceptorFactories = [PassingInterceptors()] }
    let calls = 20
    try await withServer([Decoding(record, isQuick: attack.isQuick)], options: options, group: group) {
      _,
      address async throws in
      let peer = try FramePeer(address)
      // The server's settings apply from here on: the window is a megabyte.
      peer.send(Kind.settings, 1, 0, [])
      try #require(peer.settle())
      let size = 100_000
      let message = Self.message(size, attack.compression)
      let headers = attack.compression == .none ? [] : [("grpc-encoding", attack.compression.rawValue)]
      for number in 0..<calls {
        let stream = Batch.stream(number)
        peer.headers(stream, FramePeer.request("/test.Decoding/\(attack.method)", headers))
        for start in stride(from: 0, to: message.count, by: 16_000) {
          let piece = Array(message[start..<min(start + 16_000, message.count)])
          peer.data(stream, piece, ends: start + 16_000 >= message.count)
        }
      }
      let answers = Batch.answers(peer, calls)
      #expect(answers.count == calls)
      #expect(
        answers.values.allSatisfy { $0 == [UInt8(size >> 16), UInt8(size >> 8 & 255), UInt8(size & 255)] }
      )
    }
    await record.untilReleased(calls)
    #expect(record.state.mostAtOnce == 1)
    guard !attack.isQuick else {
      #expect(record.state.decodedOnLoop == calls)
      return
    }
    #expect(record.state.decodedOnLoop == 0)
    #expect(record.state.releasedOnLoop == 0)
  }

  /// Its handler has returned. The client may leave the response unread for as long as it likes.
  @Test func aRequestIsReleasedBeforeItsResponseIsRead() async throws {
    let record = DecodingRecord()
    try await withServer([Decoding(record)], group: try LoopGroup()) { _, address async throws in
      let peer = try FramePeer(address)
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
      peer.send(Kind.settings, 1, 0, [])
      try #require(peer.settle())
      let message = Self.message(60_000, .none)
      peer.headers(1, FramePeer.request("/test.Decoding/Get"))
      for start in stride(from: 0, to: message.count, by: 15_000) {
        let piece = Array(message[start..<min(start + 15_000, message.count)])
        peer.data(1, piece, ends: start + 15_000 >= message.count)
      }
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      await record.untilReleased(1)
      #expect(record.state.released == 1 && record.state.releasedOnLoop == 0)
    }
  }

  // MARK: Large responses

  enum Caller: CaseIterable { case plain, intercepted, retrying, quick }

  /// A client's loop does not decode large responses either.
  @Test(arguments: Caller.allCases, [100_000, MessageBuffer.longestOnLoop + 1])
  func clientsDecodeLargeResponsesElsewhere(_ caller: Caller, _ size: Int) async throws {
    let record = DecodingRecord()
    var options = ChannelOptions()
    if caller == .retrying {
      options.serviceConfig = try ServiceConfig(
        json: """
          {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 2, "initialBackoff": "1s", "maxBackoff": "1s", \
          "backoffMultiplier": 2, "retryableStatusCodes": ["UNAVAILABLE"]}}]}
          """
      )
    }
    try await withPair([Sending(size)], channel: options, group: try LoopGroup()) { pair async throws in
      let channel = pair.channel
      let marshaller = TrackedMarshaller(record: record, isQuick: caller == .quick)
      let method = Method(Sending.method, requests: BytesMarshaller(), responses: marshaller)
      let chain = CallInterceptors<[UInt8], Tracked>([ClientInterceptor()])
      let call = MethodCall(method, on: channel, interceptors: caller == .intercepted ? chain : nil)
      #expect(try await call.unary([]).byteCount == size)
      #expect(record.state.decodedOnLoop == (caller == .quick && size <= MessageBuffer.longestOnLoop ? 1 : 0))
      #expect(record.state.decoded == 1)
    }
  }

  /// Nor does it release them, even if it also runs the caller.
  @Test(arguments: [false, true]) func callersOnTheLoopReleaseResponsesElsewhere(isIntercepted: Bool)
    async throws
  {
    let record = DecodingRecord()
    try await withPair([Sending(100_000)], group: try LoopGroup()) { pair async throws in
      let channel = pair.channel
      let method = Method(
        Sending.stream,
        requests: BytesMarshaller(),
        responses: TrackedMarshaller(record: record)
      )
      let chain = CallInterceptors<[UInt8], Tracked>([ClientInterceptor()])
      let call = MethodCall(method, on: channel, interceptors: isIntercepted ? chain : nil)
      let sizes = try await Task(executorPreference: channel.eventLoop) {
        var sizes: [Int] = []
        for try await response in call.serverStreaming([]) { sizes.append(response.byteCount) }
        return sizes
      }.value
      #expect(sizes == Array(repeating: 100_000, count: Sending.streamLength))
      await record.untilReleased(sizes.count)
      #expect(record.state.decodedOnLoop == 0)
      #expect(record.state.releasedOnLoop == 0)
    }
  }

  /// The messages of a connection's calls have their turn one at a time, also those that are read when their call needs the
  /// connection no more.
  @Test func callsKeepTheAccountOfTheirConnection() async throws {
    let channel = try HTTP2ClientTransport(
      target: "unix:/nowhere",
      options: ChannelOptions(),
      group: try LoopGroup()
    )
    let isSame = await channel.loop.onLoop {
      FedConnection.withClient(channel) { connection in
        let request = CallRequest(
          method: Sending.stream,
          options: nil,
          body: .message(BytesMarshaller().encode([])),
          responses: MessagePipe(limit: 1 << 20)
        )
        let call = channel.makeCall(request, receiver: EndRecorder())
        call.start()
        connection.flush()
        let head = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "0")]
        connection.feed(FramePeer.frame(Kind.headers, 5, 1, FramePeer.block(head)))
        connection.flush()
        let stream = call as? ClientCallStream
        return [stream?.connection == nil, stream?.largeMessages === connection.largeMessages]
      }
    }
    #expect(isSame == [true, true])
    await channel.loop.onLoop { channel.retire() }
  }

  /// A call that ends while its response is decoded has that end, and the response is released elsewhere too.
  @Test func aCallMayEndWhileItsResponseIsDecoded() async throws {
    let record = DecodingRecord()
    try await withPair([Sending(100_000)], group: try LoopGroup()) { pair async throws in
      let channel = pair.channel
      let (started, resume) = (Signal(), DispatchSemaphore(value: 0))
      let marshaller = TrackedMarshaller(record: record) {
        started.fire()
        resume.wait()
      }
      let method = Method(Sending.method, requests: BytesMarshaller(), responses: marshaller)
      let call = Task { try await MethodCall(method, on: channel).unary([]).byteCount }
      await started.wait()
      call.cancel()
      await #expect(throws: GRPCStatus.self) { try await call.value }
      resume.signal()
      await record.untilReleased(1)
      #expect(record.state.decodedOnLoop == 0)
      #expect(record.state.releasedOnLoop == 0)
    }
  }

  /// A client sends one large message in a stream, and then nothing for long.
  @Test(arguments: [false, true]) func silentStreamsHoldNoMessages(isIntercepted: Bool) async throws {
    let record = DecodingRecord()
    var options = ServerOptions()
    if isIntercepted { options.interceptorFactories = [PassingInterceptors()] }
    try await withServer([Decoding(record)], options: options, group: try LoopGroup()) {
      _,
      address async throws in
      let peer = try FramePeer(address)
      try #require(peer.settle())
      peer.headers(1, FramePeer.request("/test.Decoding/Collect"))
      let message = Self.message(MessageBuffer.largeByteCount, .none)
      peer.data(1, Array(message[..<16_000]))
      peer.data(1, Array(message[16_000...]))
      await record.untilReleased(1)
      #expect(record.state.released == 1)
    }
  }

  private static func message(_ size: Int, _ compression: MessageCompression) -> [UInt8] {
    var message = MessageBuffer([UInt8](repeating: 0, count: size))
    if compression != .none { message = Compressor.compress(message, compression) }
    return withExtendedLifetime(message) { Array(message.unsafeFramedBytes) }
  }

  // MARK: Many small messages

  struct Flood: Sendable, CustomTestStringConvertible {
    let name: String
    var isStream = false
    var compression = MessageCompression.none
    var testDescription: String { name }
  }

  private static let floods: [Flood] = [
    Flood(name: "calls", compression: .gzip),
    Flood(name: "calls, zstd", compression: .zstd),
    Flood(name: "a stream", isStream: true, compression: .gzip),
  ]

  /// What fits into one read of the attacker decompresses to half a megabyte, in messages that are just small enough for
  /// the loop. A call of another client that waits then is served after a few of them.
  @Test(arguments: floods) func manyMessagesLeaveTheLoopToOthers(_ flood: Flood) async throws {
    let record = DecodingRecord()
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await withServer([Decoding(record)], group: group) { server, address async throws in
      let (attacker, caller) = (try FramePeer(address), try FramePeer(address))
      try #require(attacker.settle() && caller.settle())
      let count = 40
      let message = Self.message(MessageBuffer.largeByteCount - 1, flood.compression)
      let method = flood.isStream ? "Collect" : "Get"
      let head = FramePeer.block(
        FramePeer.request("/test.Decoding/\(method)", [("grpc-encoding", flood.compression.rawValue)])
      )
      let attack = (0..<count).flatMap { number -> [UInt8] in
        let stream = flood.isStream ? 1 : Batch.stream(number)
        let isFirst = !flood.isStream || number == 0
        let ends: UInt8 = !flood.isStream || number == count - 1 ? 1 : 0
        return (isFirst ? FramePeer.frame(Kind.headers, 4, stream, head) : [])
          + FramePeer.frame(Kind.data, ends, stream, message)
      }
      let call =
        FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.request("/test.Decoding/Mark")))
        + FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 0])

      let (held, hold) = (Signal(), DispatchSemaphore(value: 0))
      loop.execute {
        loop.work.limit = 0
        held.fire()
        hold.wait()
      }
      await held.wait()
      attacker.write(attack)
      caller.write(call)
      // Both are in the system's buffers before the loop reads either.
      let descriptors = server.core.connections.compactMap(\.socket.descriptor)
      while !Task.isCancelled, descriptors.map(FairnessTests.waiting).reduce(0, +) < attack.count + call.count
      {
        await Task.yield()
      }
      hold.signal()

      #expect(Batch.answers(caller, 1).count == 1)
      // Those of the read, those of the turn in which the call was read, and what was decompressed meanwhile.
      #expect(record.state.decodedAtMark <= 8)
      #expect(Batch.answers(attacker, flood.isStream ? 1 : count).count == (flood.isStream ? 1 : count))
      let most = await loop.onLoop { loop.work.most }
      #expect(most <= 6 * TurnWork.unit)
    }
  }

  // MARK: Memory

  /// A server whose connections have a buffer of four megabytes, and a client.
  private static func withWaiting(_ body: (FramePeer, ServerCore, Loop, Signal) async throws -> Void)
    async throws
  {
    var options = ServerOptions()
    options.connectionBufferSize = 4 << 20
    let group = try LoopGroup()
    let released = Signal()
    try await withServer([Waiting(released: released)], options: options, group: group) {
      server,
      address async throws in
      let peer = try FramePeer(address)
      try #require(peer.settle())
      try await body(peer, server.core, group.loops[0], released)
      released.fire()
    }
  }

  private static func call(_ number: Int, _ method: String, on peer: FramePeer, ends: Bool = true) {
    let head = FramePeer.request("/test.Waiting/\(method)", [("grpc-encoding", "zstd")])
    peer.headers(Batch.stream(number), head)
    peer.data(Batch.stream(number), message(1 << 20, .zstd), ends: ends)
  }

  private static func inflated(_ core: ServerCore) -> Int {
    core.connections.reduce(0) { $0 + $1.largeMessages.inflatedByteCount }
  }

  /// Messages stay compressed as soon as those before them, of all calls, fill the connection's buffer, until they are read
  /// or their handlers return.
  @Test(arguments: ["One", "Stream"]) func unreadMessagesOfAllCallsStayCompressed(_ method: String)
    async throws
  {
    try await Self.withWaiting { peer, core, loop, released async throws in
      let calls = 20
      for number in 0..<calls { Self.call(number, method, on: peer) }
      try #require(peer.settle())
      await loop.until { Self.inflated(core) >= 4 << 20 }
      // Nothing more is decompressed, whatever the loop does.
      for _ in 0..<100 { await loop.onLoop {} }
      let inflated = await loop.onLoop { Self.inflated(core) }
      #expect(inflated == 4 << 20)
      released.fire()
      #expect(Batch.answers(peer, calls).values.allSatisfy { $0 == [16] })
      await loop.until { Self.inflated(core) == 0 }
    }
  }

  /// A request that has arrived is not late, however long it waits for room.
  @Test func callsThatWaitForRoomAreNotSlow() async throws {
    try await Self.withWaiting { peer, core, loop, released async throws in
      let calls = 20
      for number in 0..<calls { Self.call(number, "One", on: peer) }
      try #require(peer.settle())
      await loop.until { Self.inflated(core) >= 4 << 20 }
      let limit = try #require(core.options.requestTimeout)
      loop.advanceClock(by: limit * 2)
      for _ in 0..<100 { await loop.onLoop {} }
      released.fire()
      #expect(Batch.answers(peer, calls).values.filter { $0 == [16] }.count == calls)
    }
  }

  /// Neither wait for room.
  @Test func callsThatAreOverReleaseTheirMessages() async throws {
    try await Self.withWaiting { peer, core, loop, released async throws in
      for number in 0..<20 { Self.call(number, "Stream", on: peer, ends: false) }
      try #require(peer.settle())
      await loop.until { Self.inflated(core) >= 4 << 20 }
      for number in 0..<20 { peer.send(Kind.resetStream, 0, Batch.stream(number), [0, 0, 0, 8]) }
      await loop.until { Self.inflated(core) == 0 }
      released.fire()
      Self.call(20, "Stream", on: peer)
      #expect(Batch.answers(peer, 1) == [20: [16]])
    }
  }
}

// MARK: - The service

/// What was decoded and released where.
private final class DecodingRecord: Sendable {
  struct State: Sendable {
    var atOnce = 0
    var mostAtOnce = 0
    var decoded = 0
    var decodedOnLoop = 0
    var released = 0
    var releasedOnLoop = 0
    var decodedAtMark = Int.max
  }

  private let locked = Locked(State())
  var state: State { locked.withLock { $0 } }

  func change(_ body: (inout State) -> Void) { locked.withLock(body) }

  func untilReleased(_ count: Int) async {
    while !Task.isCancelled, state.released < count { await Task.yield() }
  }
}

/// A message that knows where it is released.
private final class Tracked: Sendable {
  let byteCount: Int
  private let record: DecodingRecord?

  init(_ byteCount: Int, _ record: DecodingRecord?) {
    self.byteCount = byteCount
    self.record = record
  }

  deinit {
    let isOnLoop = LoopOfThread.address != nil
    record?.change { state in
      state.released += 1
      if isOnLoop { state.releasedOnLoop += 1 }
    }
  }
}

private struct TrackedMarshaller: Marshaller {
  let record: DecodingRecord
  var isQuick = false
  /// Runs within `decode`.
  var whileDecoding: @Sendable () -> Void = {}

  func encode(_ message: Tracked) -> MessageBuffer {
    MessageBuffer([16, 8, 0].map { UInt8(truncatingIfNeeded: message.byteCount >> $0) })
  }

  func decode(_ bytes: RawSpan) -> Tracked {
    let isOnLoop = LoopOfThread.address != nil
    record.change { state in
      state.decoded += 1
      state.atOnce += 1
      state.mostAtOnce = max(state.mostAtOnce, state.atOnce)
      if isOnLoop { state.decodedOnLoop += 1 }
    }
    defer { record.change { $0.atOnce -= 1 } }
    whileDecoding()
    return Tracked(bytes.byteCount, record)
  }

  func decodesQuickly(_ bytes: RawSpan) -> Bool { isQuick }
}

/// Answers with the size of what it received.
private struct Decoding: CallHandlerProvider {
  let record: DecodingRecord
  let isQuick: Bool

  init(_ record: DecodingRecord, isQuick: Bool = false) {
    self.record = record
    self.isQuick = isQuick
  }

  var serviceName: String { "test.Decoding" }

  private func method(_ name: String, _ type: GRPCCallType) -> Method<TrackedMarshaller, TrackedMarshaller> {
    let marshaller = TrackedMarshaller(record: record, isQuick: isQuick)
    let descriptor = MethodDescriptor(service: serviceName, method: name, type: type)
    return Method(descriptor, requests: marshaller, responses: marshaller)
  }

  var methodHandlers: [MethodHandler] {
    let record = record
    return [
      method("Get", .unary).unaryHandler { request, _ in Tracked(request.byteCount, nil) },
      method("Collect", .clientStreaming).clientStreamingHandler { requests, _ in
        var byteCount = 0
        for try await request in requests { byteCount += request.byteCount }
        return Tracked(byteCount, nil)
      },
      MethodDescriptor(service: serviceName, method: "Mark", type: .unary).bytes.unaryHandler { request, _ in
        record.change { $0.decodedAtMark = $0.decoded }
        return request
      },
    ]
  }
}

/// Answers with many bytes.
private struct Sending: CallHandlerProvider {
  static let method = MethodDescriptor(service: "test.Sending", method: "Get", type: .unary)
  static let stream = MethodDescriptor(service: "test.Sending", method: "Expand", type: .serverStreaming)
  static let streamLength = 5
  let byteCount: Int

  init(_ byteCount: Int) { self.byteCount = byteCount }

  var serviceName: String { "test.Sending" }

  var methodHandlers: [MethodHandler] {
    let byteCount = byteCount
    return [
      Self.method.bytes.unaryHandler { _, _ in [UInt8](repeating: 0, count: byteCount) },
      Self.stream.bytes.serverStreamingHandler { _, responses, _ in
        for _ in 0..<Self.streamLength { try await responses.send([UInt8](repeating: 0, count: byteCount)) }
      },
    ]
  }
}

/// Handlers that do nothing until they are released, and answer with the size of what they received, in units of 64 KiB.
private struct Waiting: CallHandlerProvider {
  let released: Signal

  var serviceName: String { "test.Waiting" }

  var methodHandlers: [MethodHandler] {
    let released = released
    let one = MethodDescriptor(service: serviceName, method: "One", type: .unary)
    let stream = MethodDescriptor(service: serviceName, method: "Stream", type: .clientStreaming)
    return [
      one.bytes.unaryHandler { request, _ in
        await released.wait()
        return [UInt8(request.count >> 16)]
      },
      stream.bytes.clientStreamingHandler { requests, _ in
        await released.wait()
        var byteCount = 0
        for try await request in requests { byteCount += request.count }
        return [UInt8(byteCount >> 16)]
      },
    ]
  }
}

/// Calls pass an interceptor that changes nothing.
private struct PassingInterceptors: ServerInterceptorFactory {
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [ServerInterceptor()] }
}

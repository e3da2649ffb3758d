import Synchronization

/// The ends of a server's chain: hands the parts that come out of it to the transport, brings the transport's
/// requests to the chain, and is the call as the handler behind the interceptors sees it.
///
/// The chain stands on it, in one object: a call with interceptors has few allocations.
@usableFromInline
class ServerTransportEnd: ServerStreamObserver, @unchecked Sendable {
  // Sendable holds because everything but `metadata`, which is locked, is touched on the event loop alone, where the
  // transport also tells its observer; `firstHeaders` does not change once a handler can see it. Unchecked exclusivity holds because no access lasts while other code runs.

  /// What handlers set, from any thread, and what the client sent to a handler that runs once more. An object, since few
  /// calls have any of it; never changed, as another takes its place.
  private final class Metadata: Sendable {
    let received: HPACKHeaders?
    let initial: HPACKHeaders
    let trailers: HPACKHeaders

    init(
      _ received: HPACKHeaders?,
      _ initial: HPACKHeaders = HPACKHeaders(),
      _ trailers: HPACKHeaders = HPACKHeaders()
    ) {
      self.received = received
      self.initial = initial
      self.trailers = trailers
    }
  }

  @usableFromInline let eventLoop: any EventLoop
  @usableFromInline let stream: any ServerStream
  private let streamsResponses: Bool
  private let metadata = Locked<Metadata?>(nil)
  /// Whether there is anything behind the lock: for most calls there is not.
  private let hasMetadata = Atomic(false)
  @exclusivity(unchecked) private var firstHeaders: HPACKHeaders?
  /// Whether the transport has not been told of the end, nor the chain been let go of.
  @exclusivity(unchecked) @usableFromInline final var isOpen = true
  @exclusivity(unchecked) private var message: MessageBuffer?
  @exclusivity(unchecked) private var hasFailed = false
  @exclusivity(unchecked) @usableFromInline private(set) final var decodingFailure: GRPCStatus?
  @exclusivity(unchecked) private(set) var hasEnded = false
  @exclusivity(unchecked) private var promises = SentPromises()
  /// What follows the metadata is on its way: both leave together. Metadata that comes alone leaves at once.
  @exclusivity(unchecked) @usableFromInline var waitsForMessage = false
  /// How many requests the chain wants, where they stream.
  @exclusivity(unchecked) private var credit: Credit?

  @usableFromInline
  init(_ stream: borrowing any ServerStream, streamsResponses: Bool) {
    eventLoop = stream.eventLoop
    self.stream = copy stream
    self.streamsResponses = streamsResponses
    // Messages are counted from the first.
    if streamsResponses { stream.watchSent() }
  }

  // MARK: Responses

  @usableFromInline
  final func send(metadata: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard !hasEnded else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard !promises.hasMessages else {
      promise?.fail(GRPCStatus.lateMetadata)
      return end(.lateMetadata)
    }
    watch(promise)
    promises.addMetadata(promise)
    if !metadata.isEmpty { stream.setHeaders(metadata) }
    if !waitsForMessage { stream.sendHeaders() }
  }

  @usableFromInline
  final func send(
    _ buffer: consuming MessageBuffer,
    _ metadata: MessageMetadata,
    _ promise: EventLoopPromise<Void>?
  ) {
    guard !hasEnded else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    watch(promise)
    promises.add(promise)
    buffer.mayCompress = metadata.compress
    if streamsResponses {
      stream.responses.push(consume buffer, flush: metadata.flush)
    } else if message == nil {
      message = consume buffer
    } else {
      end(.tooManyMessages)
    }
  }

  @usableFromInline
  final func send(end status: GRPCStatus, _ trailers: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard !hasEnded else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    watch(promise)
    promises.addEnd(promise)
    if !trailers.isEmpty { stream.setTrailers(trailers) }
    if status.isOk, !streamsResponses {
      guard let message = message.take() else { return end(.missingResponse) }
      hasEnded = true
      stream.respond(message)
    } else {
      end(status)
    }
  }

  @usableFromInline
  final func failToEncode(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    let status = GRPCStatus.marshalling(error, "encoded")
    promise?.fail(status)
    end(status)
  }

  /// Where somebody waits for a part to leave, the transport is to tell.
  private func watch(_ promise: EventLoopPromise<Void>?) {
    if promise != nil { stream.watchSent() }
  }

  private func end(_ status: GRPCStatus) {
    hasEnded = true
    message = nil
    stream.finish(status)
  }

  // MARK: Requests

  /// Reads the requests of a stream as fast as the chain asks for them, and the handler has room.
  @usableFromInline
  final func readRequests(room: @escaping @Sendable (Int) async throws -> Void) {
    let credit = makeCredit()
    Task.immediate(executorPreference: eventLoop) {
      do {
        while let message = try await stream.requests.next() {
          try await credit.take()
          message.withBytes { if isOpen { tellMessage($0) } }
          try await room(message.byteCount)
        }
        if isOpen { tellEnd() }
      } catch {
        fail(GRPCStatus(describing: error))
      }
    }
  }

  /// Lets so many more requests come to the chain.
  final func addDemand(_ count: Int) { makeCredit().add(count) }

  /// Made when it is needed: most calls stream no requests.
  private func makeCredit() -> Credit {
    let credit = credit ?? Credit()
    self.credit = credit
    return credit
  }

  /// Brings no more requests to the chain than it has asked for.
  @usableFromInline
  final func closeCredit() { credit?.close() }

  /// A request could not be read, which fails the call, whatever its handler makes of it.
  @usableFromInline
  final func failToDecode(_ error: any Error) {
    let status = GRPCStatus.marshalling(error, "decoded")
    decodingFailure = decodingFailure ?? status
    fail(status)
  }

  /// Tells the chain of the first failure.
  @usableFromInline
  final func fail(_ status: GRPCStatus) {
    guard !hasFailed else { return }
    hasFailed = true
    if isOpen { tellFailure(status) }
  }

  // MARK: What the transport tells

  @usableFromInline
  final func sent(_ part: SentPart) { promises.complete(part, on: eventLoop) }

  @usableFromInline
  final func closed(_ failure: GRPCStatus?) {
    // Nothing is left to be told of most calls.
    if failure == nil, promises.isEmpty {
      hasEnded = true
      return
    }
    // The transport may be in the middle of its work, and what this leads to may ask things of it.
    eventLoop.execute {
      self.hasEnded = true
      self.promises.failAll(failure ?? .callEnded)
      if let failure { self.fail(failure) }
      self.transportClosed()
    }
  }

  // MARK: What the chain that stands on this is told

  func tellMessage(_ bytes: RawSpan) {}

  func tellEnd() {}

  func tellFailure(_ status: GRPCStatus) {}

  /// The handler wants its metadata sent before there is a message.
  func sendMetadataAlone() {}

  /// Nothing can be sent any more.
  func transportClosed() {}
}

// MARK: - The handler's view of the call: what it sets goes through the chain before it reaches the transport

extension ServerTransportEnd: ServerCallState {
  @usableFromInline var deadline: ContinuousClock.Instant? { stream.deadline }
  @usableFromInline var peer: PeerIdentity { stream.peer }
  @usableFromInline var isCancelled: Bool { stream.isCancelled }
  @usableFromInline var requestWasCompressed: Bool { stream.requestWasCompressed }
  @usableFromInline var logger: Logger { stream.logger }

  @usableFromInline
  var userInfo: UserInfo {
    get { stream.userInfo }
    set { stream.userInfo = newValue }
  }

  /// The client's metadata, as the interceptors left it.
  @usableFromInline
  var headers: HPACKHeaders { later { $0.received } ?? firstHeaders ?? HPACKHeaders() }

  @usableFromInline
  func setHeaders(_ headers: HPACKHeaders) {
    change { Metadata($0?.received, headers, $0?.trailers ?? HPACKHeaders()) }
  }

  @usableFromInline
  func sendHeaders() {
    guard eventLoop.inEventLoop else { return eventLoop.execute { self.sendHeaders() } }
    if isOpen { sendMetadataAlone() }
  }

  @usableFromInline
  func setTrailers(_ trailers: HPACKHeaders) {
    change { Metadata($0?.received, $0?.initial ?? HPACKHeaders(), trailers) }
  }

  /// What to send before the first message.
  @usableFromInline
  final var initialMetadata: HPACKHeaders { later { $0.initial } ?? HPACKHeaders() }

  /// What to send with the status.
  @usableFromInline
  final var trailers: HPACKHeaders { later { $0.trailers } ?? HPACKHeaders() }

  /// A handler is about to start with these; a second one, where an interceptor sends the requests again.
  @usableFromInline
  final func begin(_ headers: HPACKHeaders) {
    if firstHeaders == nil {
      firstHeaders = headers
    } else {
      change { _ in Metadata(headers) }
    }
  }

  private func later(_ read: (Metadata) -> HPACKHeaders?) -> HPACKHeaders? {
    hasMetadata.load(ordering: .acquiring) ? metadata.withLock { $0 }.flatMap(read) : nil
  }

  private func change(_ change: (Metadata?) -> Metadata) {
    metadata.withLock { $0 = change($0) }
    hasMetadata.store(true, ordering: .releasing)
  }

  @usableFromInline
  func setCompression(_ compression: MessageCompression) { stream.setCompression(compression) }
}

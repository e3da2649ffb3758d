/// The end of a server's chain: hands the parts that come out of it to the transport, and brings the
/// transport's requests to the chain.
@usableFromInline
final class ServerTransportEnd: ServerStreamObserver, @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone, where the transport also tells
  // its observer. Unchecked exclusivity holds because no access lasts while other code runs.

  /// What the transport tells, beside messages.
  @usableFromInline
  enum Answer {
    case end
    case failure(GRPCStatus)
    /// The handler wants its metadata sent before there is a message.
    case sendMetadata
  }

  @usableFromInline let stream: any ServerStream
  @usableFromInline let method: MethodDescriptor
  @exclusivity(unchecked) @usableFromInline var onMessage: ((RawSpan) -> Void)?
  @exclusivity(unchecked) @usableFromInline var onAnswer: ((Answer) -> Void)?
  @exclusivity(unchecked) private var message: MessageBuffer?
  @exclusivity(unchecked) private var hasFailed = false
  @exclusivity(unchecked) private var hasEnded = false
  @exclusivity(unchecked) private var promises = SentPromises()
  /// What follows the metadata is on its way: both leave together. Metadata that comes alone leaves at once.
  @exclusivity(unchecked) @usableFromInline var waitsForMessage = false

  @usableFromInline
  init(_ stream: any ServerStream, _ method: MethodDescriptor) {
    self.stream = stream
    self.method = method
  }

  // MARK: Responses

  @usableFromInline
  func send(metadata: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    promises.metadata = promise
    if !metadata.isEmpty { stream.setHeaders(metadata) }
    if !waitsForMessage { stream.sendHeaders() }
  }

  @usableFromInline
  func send(_ buffer: MessageBuffer, _ metadata: MessageMetadata, _ promise: EventLoopPromise<Void>?) {
    guard !hasEnded else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    promises.add(promise)
    var buffer = buffer
    buffer.mayCompress = metadata.compress
    if method.type.streamsResponses {
      stream.responses.push(buffer, flush: metadata.flush)
    } else if message == nil {
      message = buffer
    } else {
      finish(.tooManyMessages)
    }
  }

  @usableFromInline
  func send(end status: GRPCStatus, _ trailers: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard !hasEnded else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    promises.end = promise
    if !trailers.isEmpty { stream.setTrailers(trailers) }
    if status.isOk, !method.type.streamsResponses {
      guard let message else { return finish(.missingResponse) }
      self.message = nil
      hasEnded = true
      stream.respond(message)
    } else {
      finish(status)
    }
  }

  @usableFromInline
  func failToEncode(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    let status = GRPCStatus.marshalling(error, "encoded")
    promise?.fail(status)
    finish(status)
  }

  private func finish(_ status: GRPCStatus) {
    hasEnded = true
    message = nil
    stream.finish(status)
  }

  func sendMetadata() { onAnswer?(.sendMetadata) }

  // MARK: Requests

  /// Reads the requests of a stream as fast as the handler does.
  @usableFromInline
  func readRequests(room: @escaping @Sendable (Int) async -> Void) {
    Task.immediate(executorPreference: stream.eventLoop) {
      do {
        while let message = try await self.stream.requests.next() {
          message.withBytes { self.onMessage?($0) }
          await room(message.byteCount)
        }
        self.onAnswer?(.end)
      } catch {
        self.fail(GRPCStatus(describing: error))
      }
    }
  }

  /// Tells the chain of the first failure.
  @usableFromInline
  func fail(_ status: GRPCStatus) {
    guard !hasFailed else { return }
    hasFailed = true
    onAnswer?(.failure(status))
  }

  // MARK: What the transport tells

  @usableFromInline
  func sent(_ part: SentPart) { promises.complete(part, on: stream.eventLoop) }

  @usableFromInline
  func closed(_ failure: GRPCStatus?) {
    // Nothing is left to be told of most calls.
    if failure == nil, promises.isEmpty {
      hasEnded = true
      return
    }
    // The transport may be in the middle of its work, and what this leads to may ask things of it.
    stream.eventLoop.execute {
      self.hasEnded = true
      self.promises.failAll(failure ?? .callEnded)
      if let failure { self.fail(failure) }
    }
  }
}

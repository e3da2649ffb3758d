// The transport's end of the chain, where parts are sent and the transport's requests become parts.
extension ServerChain {
  // MARK: Responses

  @inlinable @inline(__always)
  func transmit(_ part: GRPCServerResponsePart<Response>, _ promise: EventLoopPromise<Void>?) {
    part.borrowed {
      send(metadata: $0, promise)
    } message: {
      codec.ends.send($0, $1, promise, of: self)
    } end: {
      close()
      send(end: $0, $1, promise)
    }
  }

  @usableFromInline
  func send(metadata: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard accepts(promise) else { return }
    guard !promises.hasMessages else {
      promise?.fail(GRPCStatus.lateMetadata)
      return stop(reported(.lateMetadata))
    }
    promises.addMetadata(promise)
    if !metadata.isEmpty { stream.addHeaders(metadata) }
    // Those of an interceptor wait for the handler's own.
    if call.hasSentMetadata, !call.waitsForMessage { stream.sendHeaders() }
  }

  @usableFromInline
  func send(
    _ buffer: consuming MessageBuffer,
    _ metadata: MessageMetadata,
    _ promise: EventLoopPromise<Void>?
  ) {
    guard accepts(promise) else { return }
    promises.add(promise)
    buffer.mayCompress = metadata.compress
    if streamsResponses {
      stream.responses.push(consume buffer, flush: metadata.flush)
    } else if call.message == nil {
      call.message = consume buffer
    } else {
      stop(reported(.tooManyMessages))
    }
  }

  /// A status that an interceptor has caused, by what it did or left out: clients do not learn of interceptors, and the log does.
  @usableFromInline
  func reported(_ status: GRPCStatus) -> GRPCStatus {
    // What could not be decoded is missing, whatever interceptors have done.
    if !call.hasFailed { stream.interceptorsFailed(status, suspects) }
    return status
  }

  @usableFromInline
  func send(end status: GRPCStatus, _ trailers: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard accepts(promise) else { return }
    call.endHasLeft = true
    promises.addEnd(promise)
    if !trailers.isEmpty { stream.addTrailers(trailers) }
    if status.isOk, !streamsResponses {
      guard let message = call.message.take() else { return stop(reported(.handlerGaveNoResponse)) }
      call.hasEnded = true
      link.with { $0.respond(message) }
    } else {
      stop(status)
    }
  }

  // MARK: Parts that are too late

  /// A message is lost that an interceptor has passed on after the end: the client never sees it.
  @usableFromInline
  func isTooLate(_ part: GRPCServerResponsePart<Response>) {
    if case .message = part, call.endHasLeft { stream.interceptorsFailed(.lateMessage, []) }
  }

  /// The same of a request, which the handler never sees.
  @usableFromInline
  func isTooLate(_ part: GRPCServerRequestPart<Request>) {
    if case .message = part, call.requestsHaveEnded { stream.interceptorsFailed(.lateMessage, []) }
  }

  /// Returns `false` if the call has ended.
  @inline(__always)
  private func accepts(_ promise: EventLoopPromise<Void>?) -> Bool {
    if let promise { accepts(awaitedBy: promise) } else { !call.hasEnded }
  }

  /// The transport reports what was sent only if a promise waits for it.
  @inline(never)
  private func accepts(awaitedBy promise: EventLoopPromise<Void>) -> Bool {
    if !call.hasEnded { observe(sent: true) }
    if call.hasEnded { promise.fail(GRPCStatus.callEnded) }
    return !call.hasEnded
  }

  @usableFromInline
  func stop(_ status: GRPCStatus) {
    call.hasEnded = true
    call.message = nil
    stream.finish(status)
  }

  @usableFromInline
  var transportQueue: (any WriterRoom)? { stream.responses }

  // MARK: Requests

  /// Reads streamed requests as fast as the chain requests them and the handler has room.
  @usableFromInline
  func readRequests(room: @escaping @Sendable (Int) async throws -> Void) {
    let credit = makeCredit()
    Task.immediate(executorPreference: eventLoop) {
      var reading = SharedReading()
      do {
        while let message = try await stream.requests.next(byHandler: false) {
          try await credit.take()
          if reading.mayTake(message) {
            message.withBytes { if isOpen { codec.message(self, $0) } }
          } else {
            let result: Result<Request, any Error>
            do {
              result = .success(try await reading.take(message, of: stream.requests, codec.decoder))
            } catch {
              result = .failure(error)
            }
            if isOpen {
              streamed?.queue.keepNext(reading.large)
              receiveMessage { () throws in try result.get() }
              // Interceptors with other work may pass it on later.
              if sideWork?.isIdle ?? true { streamed?.queue.keepNext(nil) }
            }
          }
          try await room(message.byteCount)
          reading.readsOn()
        }
        streamed?.endHasEntered = true
        if isOpen { codec.end(self) }
      } catch {
        fail(stream.status(of: error))
      }
    }
  }

  /// Fails the call because a request could not be decoded, regardless of what its handler does.
  @usableFromInline
  func failToDecode(_ error: any Error) {
    let status = GRPCStatus.marshalling(error, "decoded")
    call.decodingFailure = call.decodingFailure ?? status
    fail(status)
  }

  /// Passes the first failure to the chain.
  @usableFromInline
  func fail(_ status: GRPCStatus) {
    guard !call.hasFailed else { return }
    call.hasFailed = true
    if isOpen { errorCaught(status, at: transportEnd) }
  }
}

// MARK: - Reports of the transport

extension ServerChain: ServerStreamObserver {
  @usableFromInline var holders: [AnyObject] {
    guard isOpen, !call.hasEnded, !call.isHandling || streamed?.endIsHeld ?? false else { return [] }
    return suspects
  }

  /// The interceptors of which one may have kept a part. Guards, which decide at once, have kept none.
  private var suspects: [AnyObject] { interceptors.all.filter { !($0 is any PassingInterceptor) } }

  @usableFromInline
  func sent(_ part: SentPart) { promises.complete(part, on: eventLoop) }

  @usableFromInline
  func closed(_ failure: GRPCStatus?) {
    // For most calls, nothing is left to report. A chain that failed the call itself is still open.
    if failure == nil, promises.isEmpty, !isOpen {
      call.hasEnded = true
      return
    }
    // Deferred, because this may call the transport, which may still be at work.
    eventLoop.execute {
      self.call.hasEnded = true
      self.promises.failAll(failure ?? .callEnded)
      if let failure { self.fail(failure) }
      self.call.isTransportClosed = true
      self.closeIfDone()
    }
  }
}

// The transport's end of the chain, where parts become a call.
extension ClientChain {
  @inlinable @inline(__always)
  func transmit(_ part: GRPCClientRequestPart<Request>, _ promise: EventLoopPromise<Void>?) {
    part.borrowed {
      // The interceptors can no longer change the options.
      if chosen != nil || hasSettings { codec.chooseFormat(self) }
      send(metadata: $0, promise)
    } message: { message, metadata in
      do {
        let buffer = if let chosen { try chosen.encode(copy message) } else { try codec.encode(message) }
        send(buffer, metadata, promise)
      } catch {
        failToEncode(error, promise)
      }
    } end: {
      sendEnd(promise)
    }
  }

  @usableFromInline
  func send(metadata: HPACKHeaders, _ promise: EventLoopPromise<Void>?) {
    guard phase == .idle || phase == .over else {
      return refuse(promise, "the metadata of a call was sent twice")
    }
    settings.take()
    self.metadata = metadata
    if phase == .over {
      message = nil
      rare?.decodingFailure = nil
      promises = SentPromises()
    }
    promises.addMetadata(promise)
    phase = .gathering
    guard method.type.streamsRequests else { return }
    let pipe = MessagePipe(limit: transport.streamBufferSize)
    keep { ($0.requests, $0.requestsHaveEnded) = (pipe, false) }
    startOnTransport(.stream(pipe))
  }

  @usableFromInline
  func send(
    _ buffer: consuming MessageBuffer,
    _ metadata: MessageMetadata,
    _ promise: EventLoopPromise<Void>?
  ) {
    buffer.mayCompress = metadata.compress
    if phase == .live, let rare, let requests = rare.requests {
      guard !rare.requestsHaveEnded else {
        return refuse(promise, "a message was sent after the end of the requests")
      }
      promises.add(promise)
      requests.push(consume buffer, flush: metadata.flush)
    } else if phase == .gathering, message == nil {
      message = consume buffer
      promises.add(promise)
    } else {
      refuse(
        promise,
        phase == .idle ? "a message was sent before the metadata" : "the call takes only one message"
      )
    }
  }

  @usableFromInline
  func sendEnd(_ promise: EventLoopPromise<Void>?) {
    if phase == .live, let rare, let requests = rare.requests {
      promises.addEnd(promise)
      rare.requestsHaveEnded = true
      requests.finish()
    } else if phase == .gathering, let message = message.take() {
      promises.addEnd(promise)
      startOnTransport(.message(consume message))
    } else {
      refuse(
        promise,
        phase == .live
          ? "the requests had been ended already" : "the end of the requests was sent before a message"
      )
    }
  }

  /// A message is lost that an interceptor has passed on after the end of the requests, which the server has answered.
  @usableFromInline
  func isTooLate(_ part: GRPCClientRequestPart<Request>) {
    if case .message = part, let rare, rare.requestsHaveEnded { reportLoss(of: "a request") }
  }

  /// The same of a response in a stream that the server has ended: the caller has the end.
  @usableFromInline
  func isTooLate(_ part: GRPCClientResponsePart<Response>) {
    if case .message = part, let rare, rare.wasAnswered { reportLoss(of: "a response") }
  }

  /// Once for each call, because there may be many.
  private func reportLoss(of what: String) {
    guard rare?.hasLostMessages != true else { return }
    keep { $0.hasLostMessages = true }
    transport.remarks.logger.log(
      .warning,
      "an interceptor passed on \(what) after the end: it is lost",
      ["method": method.path]
    )
  }

  /// Fails a part that the chain must not send now, and fails the call with it.
  private func refuse(_ promise: EventLoopPromise<Void>?, _ reason: String) {
    guard phase != .over else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    let status = GRPCStatus(code: .internalError, message: "interceptors\(namesOfInterceptors): \(reason)")
    promise?.fail(status)
    stop(status)
  }

  @usableFromInline
  var optionsWithFormat: CallOptions? {
    let options = settings.current.options
    return options.payloadFormat == nil ? nil : options
  }

  @usableFromInline
  var hasSettings: Bool { !settings.areEmpty }

  private func startOnTransport(_ body: consuming CallRequest.Body) {
    phase = .live
    if method.type.streamsResponses {
      let credit = Credit(credit?.count ?? 0)
      self.credit = credit
      keep { $0.responses = StreamedAnswers(transport.streamBufferSize, credit) }
    }
    // Most calls have neither settings nor metadata.
    if settings.areEmpty, metadata.isEmpty {
      var request = request(method, nil, body)
      transport.tracer?.callMade(&request, for: callerContext)
      return start(transport.makeCall(consume request, receiver: self))
    }
    let settings = settings.current
    let changed = settings.path.map { MethodDescriptor(path: $0, type: method.type) }
    var request = request(changed ?? method, settings.options(startingWith: metadata), body)
    request.deadline = settings.deadline
    transport.tracer?.callMade(&request, for: callerContext)
    guard let host = settings.host else { return start(transport.makeCall(request, receiver: self)) }
    do {
      start(try transport.sibling(for: host).makeCall(request, receiver: self))
    } catch {
      request.traceEnd(error)
      finish(error, HPACKHeaders())
    }
  }

  private func request(
    _ method: MethodDescriptor,
    _ options: CallOptions?,
    _ body: consuming CallRequest.Body
  ) -> CallRequest {
    CallRequest(
      method: method,
      options: options,
      body: body,
      responses: rare?.responses?.pipe,
      contentSubtype: contentSubtype
    )
  }

  private func start(_ call: any ByteCall) {
    self.call = call
    call.start()
  }

  /// `nil` while the chain holds the metadata back.
  @usableFromInline
  var transportQueue: (any WriterRoom)? { rare?.requests }
}

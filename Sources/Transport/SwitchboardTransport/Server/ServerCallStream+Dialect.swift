// unsafe: state confined to the connection's loop

import SwitchboardCall

// MARK: - Calls in protocols other than gRPC: requests

extension ServerCallStream {
  /// Lets the protocols decide what the request is.
  func settleDialect() {
    guard !connection.core.dialects.isEmpty, !head.isForCrossOrigin, !head.hasManyContentTypes else {
      return
    }
    head.end(hasNoBody: state.hasRemoteEnded)
    if let known = connection.knownCall, known.has(head) { return take(known.call, known.outcome) }
    let core = connection.core
    for index in core.dialects.indices {
      switch core.dialects[index].accept(head.request, core.methods) {
      case nil: continue
      case .call(let call): takeFirst(call)
      case .page(let page): head.settle(as: page)
      case .refuse(let status, let message, let header): head.refuse(status, message, header: header)
      }
      return
    }
  }

  /// Takes a call whose head may be repeated.
  private func takeFirst(_ call: consuming DialectCall) {
    guard call.isRepeatable, let fields = head.likeness.repeatedFields, KnownCall.canKeep(head) else {
      return take(call, DialectOutcome(call))
    }
    let known = KnownCall(head, fields: fields, call)
    connection.knownCall = known
    take(known.call, known.outcome)
  }

  private func take(_ call: borrowing DialectCall, _ outcome: DialectOutcome) {
    let dialect = DialectState(call.exchange)
    self.dialect = dialect
    if case .converted(let framing) = dialect.form { inbound.converter = framing }
    head.settle(as: call, outcome)
  }

  /// Processes bytes of a request, and returns how many bytes the client may send again at once.
  func take(_ bytes: UnsafeRawBufferPointer, for dialect: DialectState) -> Int {
    switch dialect.form {
    case .frames:
      return take(bytes)
    case .given:
      return bytes.count
    case .message:
      inbound.totals.bytes += bytes.count
      let limit = inbound.limit
      guard dialect.byteCount + bytes.count <= limit.byteCount else {
        fail(limit.exceeded(byAtLeast: dialect.byteCount + bytes.count))
        return bytes.count
      }
      dialect.collect(bytes)
      connection.streamIsReady(self)
      return bytes.count
    case .converted:
      inbound.totals.bytes += bytes.count
      deframe(bytes)
      return flow?.credit(forArrived: bytes.count) ?? bytes.count
    }
  }

  private func convertEnd(_ framing: any DialectFraming) {
    // The following bytes are already frames.
    inbound.converter = nil
    do throws(GRPCStatus) {
      let frames = try framing.framesAtEnd(inbound.limit)
      if !frames.isEmpty { frames.withUnsafeBytes { deframe($0) } }
    } catch {
      fail(error)
    }
  }

  /// Called when the whole body has arrived, before the end of the requests is reported, and again if a part of the
  /// body had to wait for its conversion.
  func requestDidEnd(for dialect: DialectState) {
    guard !dialect.requestEnded else { return }
    if case .converted = dialect.form, !inbound.isEmpty, wantsMessages { return }
    dialect.requestEnded = true
    guard wantsMessages, head.rejection == nil else { return }
    switch dialect.form {
    case .frames: break
    case .converted(let framing): convertEnd(framing)
    case .given(let message): receiveUnframed(message)
    case .message: takeCollected(dialect)
    }
  }

  private func takeCollected(_ dialect: DialectState) {
    let encoding = head.terms.encoding ?? .none
    // Bytes in the read buffer are decoded in place.
    if encoding == .none, flow == nil, let lent = dialect.takeLent() {
      inbound.single = .lent(lent)
      return countReceived(lent.count)
    }
    let bytes = dialect.takeCollected()
    guard encoding != .none, !bytes.isEmpty else { return receiveUnframed(MessageBuffer(bytes)) }
    receiveUnframed(
      MessageBuffer(unsafeByteCount: bytes.count, isCompressed: true) { $0.copyBytes(from: bytes) }
    )
  }

  /// Removes the one request, with what the dialect has put before the body.
  func takeSingle() -> SingleMessage {
    let request = inbound.takeSingle()
    guard let head = dialect?.messageHead, !head.isEmpty else { return request }
    return request.following(head)
  }

  /// Decodes a large request on another thread, and then starts the call. Returns `false` if the request is small.
  func decodeInBackground(_ request: SingleMessage, _ handler: MethodHandler) -> Bool {
    guard request.isLarge, let (handler, decode) = request.withBytes(handler.decodingAhead),
      let body = take(large: request)
    else { return false }
    if body.wasCompressed { requestWasCompressed = true }
    runInBackground { () throws(GRPCStatus) in
      body.withBytes(decode)
    } then: { stream, _ in
      stream.inbound.single = .decoded(handler)
      stream.begin()
      stream.starting { body.withBytes { handler.start(stream, message: $0) } }
      stream.connection.setNeedsFlush()
    }
    return true
  }

  /// The bytes of a large request, which is decoded while the loop continues.
  private func take(large request: SingleMessage) -> MessageBuffer? {
    // The request is complete, so the client is not slow. Its deadline still applies.
    stopLimitingRequest()
    startDeadline()
    return request.buffer
  }
}

extension SingleMessage {
  /// The message with these bytes before it.
  fileprivate func following(_ head: [UInt8]) -> SingleMessage {
    withBytes { rest in
      var message = MessageBuffer(unsafeByteCount: head.count + rest.byteCount, isCompressed: false) {
        memory in
        memory.copyBytes(from: head)
        rest.withUnsafeBytes {
          UnsafeMutableRawBufferPointer(rebasing: memory[head.count...]).copyMemory(from: $0)
        }
      }
      if case .kept(let rest) = self { message.wasCompressed = rest.wasCompressed }
      return .kept(message)
    } ?? self
  }
}

// MARK: - Responses

extension ServerCallStream {
  /// Sends the whole response at once, if the protocol does so. Returns `false` if it does not.
  func submitAnswer(_ message: MessageBuffer?, _ metadata: HPACKHeaders?, for dialect: DialectState) -> Bool {
    let headers = connection.headers
    headers.reset()
    guard var content = dialect.exchange.answer(message, response.ending(metadata), into: headers) else {
      return false
    }
    if case .message(let bytes) = content {
      headers.add("content-length", number: bytes.byteCount)
      if head.isHead { content = .none }
    }
    head.addCrossOrigin(to: headers)
    if let refusal = connection.refusalOfHeaders {
      if metadata != nil || response.trailers != nil { report(oversized: refusal) }
      response.trailers = nil
      abandonResponse(refusal)
      return true
    }
    dialect.isAnswered = true
    submitWhole(content)
    return true
  }

  /// Sends the headers that were written, and a body.
  func submitWhole(_ content: DialectBody) {
    headersDidLeave()
    switch content {
    case .message(let bytes):
      response.setWhole(bytes)
      connection.withServerSession { $0.submitResponse(self) }
    case .none:
      connection.withServerSession { $0.submitTrailersOnly(self) }
    }
  }

  func readBody(into buffer: UnsafeMutableRawBufferPointer, for dialect: DialectState) -> BodyRead {
    let read = response.read(into: buffer, for: dialect)
    if dialect.isBroken { connection.streamIsReady(self) }
    return read
  }

  /// Responds to a preflight request, which a browser sends before it lets a page call.
  func answerPreflight() {
    phase = .ending
    stopLimitingRequest()
    let headers = connection.headers
    headers.reset()
    headers.add(":status", "204")
    head.origin.rules?.addPreflight(to: head.metadata, into: headers)
    connection.withServerSession { $0.submitTrailersOnly(self) }
    connection.setNeedsFlush()
  }
}

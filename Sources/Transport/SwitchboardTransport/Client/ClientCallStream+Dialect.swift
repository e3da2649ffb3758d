// unsafe: state confined to the connection's loop

import SwitchboardCall

/// Calls in protocols other than gRPC.
extension ClientCallStream {
  /// Creates the exchange for an attempt of the call. gRPC needs none.
  func startExchange() {
    let wireProtocol = channel.options.wireProtocol
    guard wireProtocol != .grpc,
      let exchange = wireProtocol.makeExchange(request, mayGet: channel.options.connectGet)
    else { return }
    dialect = ClientDialectState(exchange)
    if case .frames(let endFlag) = exchange.responseBody { inbound.endWith(endFlag, limit: statusLimit) }
  }

  /// The size limit of a status and its trailers in a body. JSON and Base64 take more bytes than the equivalent
  /// headers.
  private var statusLimit: Int { max(64 * 1024, 4 * channel.options.maxMetadataSize) }

  /// Prepares the request's body. Returns `false` if the request has none.
  func prepareBody(_ headers: HeaderWriter) -> Bool {
    if let options = request.options { body.compression = options.compression }
    switch dialect?.exchange.requestBody {
    case .message?: return prepareMessage(headers)
    case .none?:
      body.isLast = true
      return false
    case .frames?, nil:
      if case .message(let message) = request.body { body.setOnly(message) }
      return true
    }
  }

  /// The headers say whether the message is compressed, and how long it is.
  private func prepareMessage(_ headers: HeaderWriter) -> Bool {
    body.hasPrefixes = false
    let compression = body.compression
    body.compression = .none
    guard case .message(let message) = request.body else { return true }
    // The header announces the compression of the call. Servers, such as those of Connect's conformance suite, may rely
    // on it.
    let sent = message.mayCompress ? Compressor.compressAlways(message, compression) : message
    if sent.isCompressed { headers.add("content-encoding", compression.rawValue.utf8) }
    headers.add("content-length", number: sent.byteCount)
    body.setOnly(sent)
    return true
  }

  func takeHeader(_ name: Bytes, _ value: Bytes, of dialect: ClientDialectState) {
    guard dialect.exchange.takeHeader(name, value) else { return }
    server.noteReport(name, value)
  }

  func headersDidEnd(for dialect: ClientDialectState) {
    body.forgetSent()
    if isCounted { connection?.didServe() }
    if let failure = dialect.exchange.headersDidEnd(httpStatus: response.head.httpStatus) {
      phase = .failing(failure)
    }
    if dialect.exchange.hasMetadata { reportMetadata(of: dialect) }
    if state.hasRemoteEnded { deliverBody(for: dialect) }
    connection?.streamIsReady(self)
  }

  private func reportMetadata(of dialect: ClientDialectState) {
    if wants.metadata { response.deliverLater(withCookie(dialect.exchange.metadata.received)) }
  }

  func take(_ bytes: UnsafeRawBufferPointer, for dialect: ClientDialectState) -> Int {
    switch dialect.exchange.responseBody {
    case .frames:
      // A body follows, so the headers are not trailers.
      if !dialect.exchange.hasMetadata, !dialect.isDelivered {
        dialect.isDelivered = true
        reportMetadata(of: dialect)
        connection?.streamIsReady(self)
      }
      let credit = take(bytes)
      if inbound.end != nil { connection?.streamIsReady(self) }
      return credit
    case .message:
      inbound.totals.bytes += bytes.count
      let count = dialect.collected.count + bytes.count
      guard count <= inbound.limit.byteCount else {
        fail(inbound.limit.exceeded(byAtLeast: count))
        return bytes.count
      }
      dialect.collect(bytes)
      return bytes.count
    case .error:
      inbound.totals.bytes += bytes.count
      guard dialect.collected.count + bytes.count <= statusLimit else {
        // The HTTP status must suffice. An error page may be long, and endless if the server is hostile.
        phase = .failing(dialect.exchange.end(nil))
        connection?.report(.messageTooLarge)
        connection?.streamIsReady(self)
        return bytes.count
      }
      dialect.collect(bytes)
      return bytes.count
    }
  }

  /// Delivers the whole body as a message.
  func deliverBody(for dialect: ClientDialectState) {
    guard isOpen, !dialect.isDelivered, case .message = dialect.exchange.responseBody else { return }
    dialect.isDelivered = true
    let bytes = dialect.takeCollected()
    let isCompressed = dialect.exchange.encoding != MessageCompression.none && !bytes.isEmpty
    receiveUnframed(
      MessageBuffer(unsafeByteCount: bytes.count, isCompressed: isCompressed) { $0.copyBytes(from: bytes) }
    )
  }

  /// The status that the server sent, once everything has arrived.
  func endStatus(_ dialect: ClientDialectState) -> GRPCStatus {
    let status = dialect.exchange.end(lastBytes(of: dialect))
    guard dialect.exchange.trailers.listSize <= channel.options.maxMetadataSize else {
      connection?.report(.headersTooLarge)
      return .responseHeadersTooLarge(limit: channel.options.maxMetadataSize)
    }
    response.trailers = dialect.exchange.trailers.received
    guard status.isOk, flow == nil, inbound.totals.messages == 0 else { return status }
    return .missingOneResponse
  }

  /// Ends a call whose status has arrived in its body. If the server does not end the body as well, the stream is
  /// reset, which closes the connection in HTTP/1.1.
  func finishByLastFrame() {
    guard let dialect else { return }
    let status = endStatus(dialect)
    guard state == .localEnded else {
      return state.isClosed ? close(status, isAnswer: true) : resetAndClose(status, isAnswer: true)
    }
    close(status, isAnswer: true)
    dialect.startDraining(on: channel.loop) {
      if let end = self.reset() { self.connection?.close(end) }
    }
  }

  private func lastBytes(of dialect: ClientDialectState) -> [UInt8]? {
    let encoding = dialect.exchange.encoding ?? .none
    switch dialect.exchange.responseBody {
    case .message: return nil
    case .frames:
      guard let end = inbound.end else { return nil }
      return plain(end, encoding)
    case .error:
      let bytes = dialect.takeCollected()
      guard !bytes.isEmpty else { return nil }
      return plain(
        MessageBuffer(unsafeByteCount: bytes.count, isCompressed: encoding != .none) {
          $0.copyBytes(from: bytes)
        },
        encoding
      )
    }
  }

  /// The decompressed message; `nil` if it cannot be decompressed.
  private func plain(_ message: MessageBuffer, _ encoding: MessageCompression) -> [UInt8]? {
    guard message.isCompressed else { return message.withBytes { $0.withUnsafeBytes(Array.init) } }
    guard encoding != .none,
      let plain = try? Compressor.decompress(
        message,
        encoding,
        limit: MessageLimit(statusLimit, .statusInBody)
      )
    else { return nil }
    return plain.withBytes { $0.withUnsafeBytes(Array.init) }
  }
}

extension HPACKHeaders {
  /// The size of the fields, as HTTP/2 counts it.
  fileprivate var listSize: Int {
    (0..<fieldCount).reduce(0) { size, index in
      size + withField(at: index) { name, value in name.count + value.count + 32 }
    }
  }
}

extension GRPCStatus {
  fileprivate static let missingOneResponse = GRPCStatus(
    code: .unimplemented,
    message: "the call takes one response and got none",
    origin: .peer
  )
}

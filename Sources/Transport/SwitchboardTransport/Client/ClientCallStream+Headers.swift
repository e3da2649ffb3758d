import SwitchboardCall

// MARK: - The metadata and trailers of the response

extension ClientCallStream {
  /// The metadata of the response, with the cookie of the call's session if it needs another.
  func withCookie(_ metadata: consuming HPACKHeaders) -> HPACKHeaders {
    guard wants.metadata, let session = request.route?.session, let server = connection?.serverAddress,
      let cookie = session.cookie(from: server)
    else { return metadata }
    metadata.add(name: "set-cookie", value: cookie)
    return metadata
  }

  /// The trailers that arrived. A success always shows the message `OK`, although servers omit it.
  func takeTrailers(_ fields: FieldCollector) -> HPACKHeaders {
    if wants.metadata, response.head.code == 0, response.head.message == nil {
      fields.complete(with: "grpc-message", "OK")
    }
    return fields.take()
  }
}

// MARK: - The headers of the request

extension CallRequest {
  /// Why HTTP does not allow the call's own headers, if it does not.
  var failureToSend: GRPCStatus? {
    guard method.hasValidPath else { return .invalidPath(method) }
    guard let options else { return nil }
    if let authority = options.serverAuthority, authority.isEmpty || !FieldSyntax.isHost(authority) {
      return authority.isEmpty ? .emptyAuthority : .invalidHeader("authority")
    }
    return options.initialMetadata.failureToSend
  }
}

extension GRPCStatus {
  fileprivate static func invalidPath(_ method: MethodDescriptor) -> GRPCStatus {
    guard method.pathBytes.first != UInt8(ascii: "/") else {
      return GRPCStatus(
        code: .invalidArgument,
        message: "\(fault(ofPath: method)): \(method.path.debugDescription)",
        origin: .user
      )
    }
    return GRPCStatus(
      code: .invalidArgument,
      message: "the call's path has no slash at its beginning: write /\(method.path)"
    )
  }

  private static func fault(ofPath method: MethodDescriptor) -> String {
    MethodDescriptor.isTarget(method.pathBytes)
      ? "the call's path lacks the name of a service or of a method, as in /shop.Shop/Get"
      : "the call's path has a space, or another character that HTTP does not allow"
  }

  fileprivate static let emptyAuthority = GRPCStatus(
    code: .invalidArgument,
    message: "CallOptions.serverAuthority is empty: leave it out, or name a host, such as shop.example:443"
  )

  fileprivate static func invalidHeader(_ name: String) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "the call's \(name) has characters that HTTP does not allow",
      origin: .user
    )
  }
}

extension ClientCallStream {
  /// The host of the server, if the call's route asks for it as authority. One that the application has set takes precedence.
  func rewrittenAuthority(_ connection: ClientConnection) throws(GRPCStatus) -> [UInt8]? {
    guard let route = request.route, route.rewritesAuthority, request.options?.serverAuthority == nil else {
      return nil
    }
    return try connection.serverHost()
  }

  /// `rewritten` takes the place of the channel's authority.
  func writeHeaders(to headers: HeaderWriter, isSecure: Bool, _ rewritten: [UInt8]?) {
    headers.reset()
    if let dialect { return writeHeaders(of: dialect.exchange, to: headers, isSecure: isSecure, rewritten) }
    headers.add(":method", "POST")
    if isSecure { headers.add(":scheme", "https") } else { headers.add(":scheme", "http") }
    headers.add(":path", request.method.pathBytes)
    if let authority = request.options?.serverAuthority {
      headers.add(":authority", authority.utf8)
    } else {
      headers.add(":authority", rewritten ?? channel.destination.authority)
    }
    headers.add("te", "trailers")
    headers.add(request.contentSubtype)
    headers.add("user-agent", channel.userAgent)
    headers.add("grpc-accept-encoding", AcceptedCompressions.offered)
    if request.previousAttempts > 0 {
      headers.add("grpc-previous-rpc-attempts", String(request.previousAttempts).utf8)
    }
    // A call may inherit a deadline without having any options.
    if let rest = timeLeft { headers.add("grpc-timeout", rest.encoded) }
    if let options = request.options { write(options, to: headers) }
    writeTrace(to: headers, mayFollow: true)
  }

  /// Adds the attempt's headers of a trace. `traceparent` follows later if it `mayFollow` and the block has room.
  @inline(__always)
  private func writeTrace(to headers: HeaderWriter, mayFollow: Bool) {
    if trace.addsHeaders { trace.tracer?.writeHeaders(request.stamp) { headers.add(unindexed: $0, $1) } }
    guard trace.addsTraceParent else { return }
    trace.announce(mayFollow && headers.announceTraceParent())
    guard let identity = trace.traceParentNow(request.stamp) else { return }
    headers.add(unindexed: "traceparent", identity.text.span.bytes)
  }

  /// Only requests have it.
  func receiveTraceParent(_ identity: SpanIdentity) {}

  /// Only heads of requests are kept.
  func receiveHead(_ kept: any KeptHead) {}

  /// Only heads of requests are kept.
  var keptHead: (any KeptHead)? { nil }

  func takeTraceParent() -> SpanIdentity? { trace.takeTraceParent(request.stamp) }

  private func writeHeaders(
    of exchange: any ClientDialect,
    to headers: HeaderWriter,
    isSecure: Bool,
    _ rewritten: [UInt8]?
  ) {
    let target = (exchange as? ConnectUnaryClient)?.target
    headers.add(":method", target == nil ? "POST" : "GET")
    if isSecure { headers.add(":scheme", "https") } else { headers.add(":scheme", "http") }
    headers.add(":path", target ?? request.method.pathBytes)
    headers.add(
      ":authority",
      request.options?.serverAuthority.map { Array($0.utf8) } ?? rewritten ?? channel.destination.authority
    )
    headers.add("user-agent", channel.userAgent)
    exchange.writeHeaders(request, timeout: timeLeft, into: headers)
    if let options = request.options { write(options.initialMetadata, to: headers) }
    writeTrace(to: headers, mayFollow: false)
  }

  private var timeLeft: GRPCTimeout? {
    guard let deadline = timer?.deadline else { return nil }
    let now = channel.loop.now
    return GRPCTimeout(nanoseconds: deadline > now ? deadline - now : 1)
  }

  private func write(_ options: CallOptions, to headers: HeaderWriter) {
    if options.compression != .none { headers.add("grpc-encoding", options.compression.rawValue.utf8) }
    write(options.initialMetadata, to: headers)
  }

  private func write(_ metadata: HPACKHeaders, to headers: HeaderWriter) {
    if !headers.add(metadata) { channel.mistakes.leftOut.report(metadata, of: request.method) }
  }
}

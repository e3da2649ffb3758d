import SwitchboardCall

// MARK: - The headers of the request

extension ClientCallStream {
  func writeHeaders(to headers: HeaderWriter, isSecure: Bool) {
    headers.reset()
    headers.add(":method", "POST")
    if isSecure { headers.add(":scheme", "https") } else { headers.add(":scheme", "http") }
    headers.add(":path", request.method.pathBytes)
    if let authority = request.options?.serverAuthority {
      headers.add(":authority", authority.utf8)
    } else {
      headers.add(":authority", channel.authority)
    }
    headers.add("te", "trailers")
    headers.add(request.contentSubtype)
    headers.add("user-agent", channel.userAgent)
    headers.add("grpc-accept-encoding", "identity,deflate,gzip")
    if request.previousAttempts > 0 {
      headers.add("grpc-previous-rpc-attempts", String(request.previousAttempts).utf8)
    }
    if let options = request.options { write(options, to: headers) }
  }

  private func write(_ options: CallOptions, to headers: HeaderWriter) {
    if let deadline = timer?.deadline {
      let now = channel.loop.now
      let rest = GRPCTimeout(nanoseconds: deadline > now ? deadline - now : 1)
      headers.add("grpc-timeout", rest.encoded)
    }
    if options.compression != .none { headers.add("grpc-encoding", options.compression.rawValue.utf8) }
    headers.add(options.initialMetadata)
  }
}

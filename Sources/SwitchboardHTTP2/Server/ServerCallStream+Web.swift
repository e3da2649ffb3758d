import SwitchboardCall

// MARK: - gRPC-Web

extension ServerCallStream {
  /// Processes Base64 bytes of a request, and returns how many bytes the client may send again at once.
  func takeText(_ bytes: UnsafeRawBufferPointer, _ web: WebBody) -> Int {
    inbound.totals.bytes += bytes.count
    if let decoded = web.decode(bytes) {
      decoded.withUnsafeBytes { deframe($0) }
    } else {
      fail(.brokenText)
    }
    return flow?.credit(forArrived: bytes.count) ?? bytes.count
  }

  func readWebBody(_ web: WebBody, into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    if web.hasStaged { return web.takeStaged(into: buffer) }
    let read = web.isText ? stageText(web) : body.read(into: buffer)
    switch read {
    case .copied:
      return web.isText ? web.takeStaged(into: buffer) : read
    case .borrowed(let count, _):
      // The trailers follow, as part of the body.
      return .borrowed(count, isLast: false)
    case .wait:
      return read
    case .last(let count):
      stageTrailers(web)
      // The staged bytes follow the copied ones.
      return count > 0 && !web.isText ? .copied(count) : web.takeStaged(into: buffer)
    }
  }

  /// How many bytes are encoded as text at once: a multiple of three, so that no padding occurs inside the text.
  private static let textPiece = 12 * 1024

  private func stageText(_ web: WebBody) -> BodyRead {
    withUnsafeTemporaryAllocation(byteCount: Self.textPiece, alignment: 1) { piece in
      let read = body.read(into: piece)
      switch read {
      case .copied(let count), .last(let count):
        if count > 0 { web.stage(UnsafeRawBufferPointer(rebasing: piece[..<count])) }
      case .borrowed(let count, _):
        guard let (message, bytes) = body.takeBorrowed(count) else { return .wait }
        // The bytes belong to the message, and this may be the last reference to it.
        withExtendedLifetime(message) { web.stage(bytes) }
        return .copied(count)
      case .wait: break
      }
      return read
    }
  }

  private func stageTrailers(_ web: WebBody) {
    let headers = connection.session.headers
    headers.reset()
    // They are part of the body, so the limit for headers does not apply.
    writeStatus(into: headers, limit: .max)
    var lines: [UInt8] = []
    headers.forEachField { name, value in
      lines += name
      lines.append(UInt8(ascii: ":"))
      lines += value
      lines += "\r\n".utf8
    }
    web.stageTrailers(lines)
  }

  /// Adds the response headers for the format, and for cross-origin access.
  func addFormat(to headers: HeaderWriter) {
    guard let format = head.webFormat else { return headers.add(head.contentSubtype) }
    headers.add("content-type", format.contentType(head.contentSubtype).utf8)
    head.crossOrigin?.addResponse(to: head.metadata, into: headers)
  }

  /// Responds to a preflight request, which a browser sends before it lets a page call.
  func answerPreflight() {
    phase = .ending
    stopLimitingRequest()
    let headers = connection.session.headers
    headers.reset()
    headers.add(":status", "204")
    head.crossOrigin?.addPreflight(to: head.metadata, into: headers)
    connection.withWire { $0.submitTrailersOnly(self) }
    connection.setNeedsFlush()
  }
}

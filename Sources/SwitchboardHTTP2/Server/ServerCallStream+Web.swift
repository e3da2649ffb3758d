import SwitchboardCall

// MARK: - gRPC-Web

extension ServerCallStream {
  /// Takes bytes of a request in base64, and returns how many of them the client may send again at once.
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
      // The trailers follow in the body.
      return .borrowed(count, isLast: false)
    case .wait:
      return read
    case .last(let count):
      stageTrailers(web)
      // What is staged follows what was copied.
      return count > 0 && !web.isText ? .copied(count) : web.takeStaged(into: buffer)
    }
  }

  /// How much is made text of at once: a multiple of three, so that no padding is needed inside.
  private static let textPiece = 12 * 1024

  private func stageText(_ web: WebBody) -> BodyRead {
    withUnsafeTemporaryAllocation(byteCount: Self.textPiece, alignment: 1) { piece in
      let read = body.read(into: piece)
      switch read {
      case .copied(let count), .last(let count):
        if count > 0 { web.stage(UnsafeRawBufferPointer(rebasing: piece[..<count])) }
      case .borrowed(let count, _):
        guard let (message, bytes) = body.takeBorrowed(count) else { return .wait }
        // The bytes are the message's, of which this may be the last reference.
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
    // They are no headers of HTTP's.
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

  /// Adds what the headers of an answer say of its format, and of who may read it.
  func addFormat(to headers: HeaderWriter) {
    guard let format = head.webFormat else { return headers.add(head.contentSubtype) }
    headers.add("content-type", format.contentType(head.contentSubtype).utf8)
    head.crossOrigin?.addResponse(to: head.metadata, into: headers)
  }

  /// Answers what a browser asks before it lets a page call.
  func answerPreflight() {
    phase = .ending
    stopLimitingRequest()
    let headers = connection.session.headers
    headers.reset()
    headers.add(":status", "204")
    head.crossOrigin?.addPreflight(to: head.metadata, into: headers)
    connection.submitTrailersOnly(self)
    connection.setNeedsFlush()
  }
}

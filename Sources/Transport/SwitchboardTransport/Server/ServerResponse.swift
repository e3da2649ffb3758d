// unsafe: writes into the buffers that a session lends for the next piece of a body

import SwitchboardCall
import SwitchboardText

/// What a server sends for a call.
///
/// ```
///   no headers ──headers──> open ──the last message──> trailers, with the status
///        └─────────────trailers alone, with the status───────^
/// ```
struct ServerResponse {
  var body = OutboundBody(endsWithStatus: true)
  /// Whether the headers have left.
  private(set) var hasHeaders = false
  /// How the call ended; `nil` if it succeeded without a message.
  var status: GRPCStatus?
  /// The metadata with the status.
  var trailers: HPACKHeaders?
  /// How much of it `UnreadResponses` counts.
  var counted = 0

  mutating func headersDidLeave() { hasHeaders = true }

  // Inlined, so that the stream copies nothing to ask.

  /// Whether it is the response of a call that succeeded, once all of it was sent.
  @inline(__always) var isSuccess: Bool { hasHeaders && status?.isOk ?? true }

  /// Whether nothing in the trailers is the call's own.
  @inline(__always) var endsPlainly: Bool { trailers == nil && status.map { $0 == .ok } ?? true }

  // MARK: What is written

  /// Writes the headers of a response in gRPC. Returns whether all of the metadata is among them.
  func writeHead(_ metadata: HPACKHeaders?, _ format: ContentSubtype, into headers: HeaderWriter) -> Bool {
    headers.add(":status", "200")
    headers.add(format)
    if body.compression != .none { headers.add("grpc-encoding", body.compression.rawValue.utf8) }
    return metadata.map { headers.add($0) } ?? true
  }

  /// The length that is reserved for the message before the metadata and the details.
  private static let leastMessage = 512

  /// Writes the status, its details and the trailing metadata, within `limit` bytes including what was written before.
  /// Returns a failure if the metadata is too large, or the details, which are the application's own, and the metadata of which
  /// some may not be sent.
  ///
  /// A client that receives more than it accepts learns nothing, not even the code. If not everything fits, the load
  /// report is left out first, then the metadata of a failure, then its details, and finally its message is truncated.
  /// In a success, only the load report can be left out; if that is not enough, the call fails.
  mutating func writeStatus(into headers: HeaderWriter, limit: Int) -> (
    refusal: GRPCStatus?, incomplete: HPACKHeaders?
  ) {
    let start = headers.mark
    let incomplete = headers.add(status ?? .ok, trailers) ? nil : trailers
    guard headers.listSize > limit else { return (nil, incomplete) }
    if let others = trailers?.withoutLoad {
      trailers = others
      headers.rewind(to: start)
      headers.add(status ?? .ok, trailers)
      guard headers.listSize > limit else { return (nil, incomplete) }
    }
    let refusal = GRPCStatus.headersTooLargeToSend(headers, limit: limit)
    let oversized = trailers != nil || status?.packedDetails != nil ? refusal : nil
    headers.rewind(to: start)
    if status?.isOk ?? true {
      status = refusal
      trailers = nil
    }
    writeWhatFits(of: status ?? refusal, into: headers, limit: limit)
    return (oversized, incomplete)
  }

  private func writeWhatFits(of status: GRPCStatus, into headers: HeaderWriter, limit: Int) {
    headers.addCode(of: status)
    let rest = limit - Self.leastMessage
    if let trailers {
      let start = headers.mark
      headers.add(trailers, inTrailers: true)
      if headers.listSize > rest { headers.rewind(to: start) }
    }
    if let details = status.packedDetails {
      let start = headers.mark
      headers.add("grpc-status-details-bin", Base64.encode(details))
      if headers.listSize > rest { headers.rewind(to: start) }
    }
    if let message = status.message { headers.addMessage(message, limit: limit) }
  }
}

// MARK: - In a dialect

extension ServerResponse {
  func ending(_ metadata: HPACKHeaders? = nil) -> DialectEnding {
    DialectEnding(failure: status, metadata: metadata, trailers: trailers, compression: body.compression)
  }

  /// Writes the head of a response that is sent piece by piece.
  mutating func writeHead(_ metadata: HPACKHeaders?, for dialect: DialectState, into headers: HeaderWriter) {
    let encoder = dialect.exchange.responseEncoder
    body.encoder = encoder
    if let first = body.pipe?.first { encoder?.willSend(first) }
    dialect.exchange.writeHead(metadata, body.compression, into: headers)
    body.hasPrefixes = dialect.exchange.sendsFrames
  }

  /// Makes the body of a response that is sent whole, and whose headers say what it is.
  mutating func setWhole(_ content: MessageBuffer) {
    body.compression = .none
    body.hasPrefixes = false
    body.setOnly(content)
  }

  /// Reads the next piece. If the response cannot be ended properly, the dialect's state says so from then on.
  mutating func read(into buffer: UnsafeMutableRawBufferPointer, for dialect: DialectState) -> BodyRead {
    if dialect.isAnswered { return body.read(into: buffer) }
    if dialect.hasStaged { return dialect.takeStaged(into: buffer) }
    let isBase64 = dialect.exchange.isBase64
    let read = isBase64 ? stageText(dialect) : body.read(into: buffer)
    switch read {
    case .copied:
      return isBase64 ? dialect.takeStaged(into: buffer) : read
    case .borrowed(let count, _):
      // The end of the body may follow.
      return .borrowed(count, isLast: false)
    case .wait:
      return read
    case .last(let count):
      guard let end = dialect.exchange.end(ending()) else {
        // It must not look complete.
        dialect.isBroken = true
        return count > 0 ? .copied(count) : .wait
      }
      dialect.stageEnd(end)
      // The staged bytes follow the copied ones.
      return count > 0 && !isBase64 ? .copied(count) : dialect.takeStaged(into: buffer)
    }
  }

  /// How many bytes are encoded as text at once: a multiple of three, so that no padding occurs inside the text.
  private static let textPiece = 12 * 1024

  private mutating func stageText(_ dialect: DialectState) -> BodyRead {
    withUnsafeTemporaryAllocation(byteCount: Self.textPiece, alignment: 1) { piece in
      let read = body.read(into: piece)
      switch read {
      case .copied(let count), .last(let count):
        if count > 0 { dialect.stage(UnsafeRawBufferPointer(rebasing: piece[..<count])) }
      case .borrowed(let count, _):
        guard let (message, bytes) = body.takeBorrowed(count) else { return .wait }
        // The bytes belong to the message, and this may be the last reference to it.
        withExtendedLifetime(message) { dialect.stage(bytes) }
        return .copied(count)
      case .wait: break
      }
      return read
    }
  }
}

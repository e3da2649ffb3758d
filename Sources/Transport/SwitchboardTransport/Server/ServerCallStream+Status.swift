import SwitchboardCall
import SwitchboardText

// MARK: - The status, as it is sent to the client

extension ServerCallStream {
  /// The length that is reserved for the message before the metadata and the details.
  private static let leastMessage = 512

  /// Writes the status, its details and the trailing metadata, within `limit` bytes including what was written before.
  ///
  /// A client that receives more than it accepts learns nothing, not even the code. If not everything fits, the load
  /// report is left out first, then the metadata of a failure, then its details, and finally its message is truncated.
  /// In a success, only the load report can be left out; if that is not enough, the call fails.
  func writeStatus(into headers: HeaderWriter, limit: Int) {
    let start = headers.mark
    writeWhole(status ?? .ok, into: headers)
    guard headers.listSize > limit else { return }
    if let others = trailerMetadata?.withoutLoad {
      trailerMetadata = others
      headers.rewind(to: start)
      writeWhole(status ?? .ok, into: headers)
      guard headers.listSize > limit else { return }
    }
    let refusal = GRPCStatus.headersTooLargeToSend(headers, limit: limit)
    if trailerMetadata != nil { report(oversized: refusal) }
    headers.rewind(to: start)
    if status?.isOk ?? true {
      status = refusal
      trailerMetadata = nil
    }
    writeWhatFits(of: status ?? refusal, into: headers, limit: limit)
  }

  private func writeWhole(_ status: GRPCStatus, into headers: HeaderWriter) {
    headers.add(status, trailerMetadata)
  }

  private func writeWhatFits(of status: GRPCStatus, into headers: HeaderWriter, limit: Int) {
    headers.addCode(of: status)
    let rest = limit - Self.leastMessage
    if let trailerMetadata {
      let start = headers.mark
      headers.add(trailerMetadata)
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

extension HeaderWriter {
  /// The maximum length of a status message as it is sent: half of what clients accept for all trailers.
  private static let longestMessage = 8 * 1024

  /// Adds a status, its details and the trailing metadata, as gRPC sends them.
  func add(_ status: GRPCStatus, _ trailers: HPACKHeaders?) {
    addCode(of: status)
    // Only errors have a message. Connect's conformance suite rejects a success with one.
    if !status.isOk, let message = status.message { addMessage(message, limit: .max) }
    if let details = status.packedDetails { add("grpc-status-details-bin", Base64.encode(details)) }
    if let trailers { add(trailers) }
  }

  func addCode(of status: GRPCStatus) {
    add("grpc-status", String(status.code.rawValue).utf8)
    if status.code == .unimplemented { add("grpc-accept-encoding", AcceptedCompressions.offered) }
  }

  func addMessage(_ message: String, limit: Int) {
    let frame = "grpc-message".utf8.count + 32
    let room = min(Self.longestMessage, max(0, limit - listSize - frame))
    add("grpc-message", StatusMessage.encode(message, upTo: room))
  }
}

/// Encodes `grpc-message`, truncated if necessary.
enum StatusMessage {
  /// Returns at most `limit` bytes. A truncated message ends with three dots, and is not cut inside an escape or a
  /// character.
  static func encode(_ message: String, upTo limit: Int) -> [UInt8] {
    let whole = PercentEncoding.encode(message)
    guard whole.count > limit else { return whole }
    var count = max(0, limit - 3)
    for back in 1...2 where count >= back && whole[count - back] == UInt8(ascii: "%") { count -= back }
    while count >= 3, continuesCharacter(whole[count...]) { count -= 3 }
    return whole.prefix(count) + Array("...".utf8.prefix(limit))
  }

  /// Whether `rest` starts with an escape that continues a character.
  private static func continuesCharacter(_ rest: ArraySlice<UInt8>) -> Bool {
    guard let first = rest.first, first == UInt8(ascii: "%"), rest.count >= 3 else { return false }
    return "89AB".utf8.contains(rest[rest.startIndex + 1])
  }
}

extension GRPCStatus {
  static let callGone = GRPCStatus(code: .cancelled, message: "the call has ended", origin: .peer)
  static let requestTooSlow = GRPCStatus(
    code: .deadlineExceeded,
    message: "the request took too long to arrive",
    origin: .peer
  )
  static let requestExpired = GRPCStatus(
    code: .deadlineExceeded,
    message: "the client's deadline had passed when the request arrived",
    origin: .library
  )
  static let responseNotRead = GRPCStatus(
    code: .deadlineExceeded,
    message: "the client did not read the response in time",
    origin: .peer
  )
  static let wrongRequestCount = GRPCStatus(
    code: .unimplemented,
    message: "the method takes exactly one request",
    origin: .peer
  )
  static let unannouncedCompression = GRPCStatus(
    code: .internalError,
    message: "a message is compressed, but no grpc-encoding was announced",
    origin: .peer
  )
}

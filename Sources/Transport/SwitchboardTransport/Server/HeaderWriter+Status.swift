import SwitchboardCall
import SwitchboardText

extension HeaderWriter {
  /// The maximum length of a status message as it is sent: half of what clients accept for all trailers.
  private static let longestMessage = 8 * 1024

  /// Adds a status, its details and the trailing metadata, as gRPC sends them. Returns whether all of that was added.
  @discardableResult
  func add(_ status: GRPCStatus, _ trailers: HPACKHeaders?) -> Bool {
    addCode(of: status)
    // Only errors have a message. Connect's conformance suite rejects a success with one.
    if !status.isOk, let message = status.message { addMessage(message, limit: .max) }
    if let details = status.packedDetails { add("grpc-status-details-bin", Base64.encode(details)) }
    return trailers.map { add($0, inTrailers: true) } ?? true
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

// unsafe: bodies that a session lends until its connection has processed them

import SwitchboardCall
import SwitchboardText

/// The state of a stream for a call in another protocol. Unchecked exclusivity: confined to the stream's loop.
final class DialectState {
  let exchange: any DialectExchange
  let form: DialectRequestForm
  /// The received part of a request's body in the form `.message`.
  @exclusivity(unchecked) private(set) var collected: [UInt8] = []
  /// All of the body so far, in the read buffer, until the connection has processed its ready streams.
  @exclusivity(unchecked) private var lent: UnsafeRawBufferPointer?
  @exclusivity(unchecked) var requestEnded = false
  /// Whether the whole response was submitted, so that nothing follows its body.
  @exclusivity(unchecked) var isAnswered = false
  /// Whether the response cannot be ended properly.
  @exclusivity(unchecked) var isBroken = false
  /// The bytes to send first.
  @exclusivity(unchecked) private var staged: [UInt8] = []
  @exclusivity(unchecked) private var offset = 0
  @exclusivity(unchecked) private var isEnding = false

  init(_ exchange: any DialectExchange) {
    self.exchange = exchange
    form = exchange.requestForm
  }

  // MARK: The request's body

  /// The status that the client receives for a failed request. HTTP has one for a body that cannot be decompressed,
  /// which is the client's fault; gRPC has only `INTERNAL`.
  func failure(_ status: GRPCStatus, _ fault: PeerAbuse?) -> GRPCStatus {
    switch form {
    case .message, .given:
      guard fault == .brokenCompression else { return status }
      var status = status
      status.code = .invalidArgument
      return status
    case .frames, .converted: return status
    }
  }

  /// The bytes of the message before the body.
  var messageHead: [UInt8] { if case .message(let head) = form { head } else { [] } }

  var byteCount: Int { lent?.count ?? collected.count }

  func collect(_ bytes: UnsafeRawBufferPointer) {
    if lent == nil, collected.isEmpty {
      lent = bytes
    } else {
      keep()
      collected += bytes
    }
  }

  /// Copies the body out of the read buffer, which will be reused.
  func keep() {
    guard let bytes = lent else { return }
    lent = nil
    collected += bytes
  }

  /// Removes the body if it is in the read buffer.
  func takeLent() -> UnsafeRawBufferPointer? { lent.take() }

  /// Removes the body.
  func takeCollected() -> [UInt8] {
    keep()
    defer { collected = [] }
    return collected
  }

  /// Forgets the body.
  func drop() {
    lent = nil
    collected = []
  }

  // MARK: The response

  var hasStaged: Bool { offset < staged.count }

  func stage(_ bytes: some Collection<UInt8>) {
    if !hasStaged {
      staged.removeAll(keepingCapacity: true)
      offset = 0
    }
    if exchange.isBase64 { staged += Base64.padded(bytes) } else { staged += bytes }
  }

  /// Stages the last bytes of the response.
  func stageEnd(_ bytes: [UInt8]) {
    stage(bytes)
    isEnding = true
  }

  func takeStaged(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    let count = min(buffer.count, staged.count - offset)
    staged.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }
    offset += count
    return isEnding && !hasStaged ? .last(count) : .copied(count)
  }
}

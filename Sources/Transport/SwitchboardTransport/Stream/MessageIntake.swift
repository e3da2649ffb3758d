// unsafe: state confined to the connection's loop

import SwitchboardCall

/// What is on the way between the bytes of a stream and their reader.
final class MessageIntake {
  // Unchecked exclusivity: confined to the loop of its stream, and no accessor calls other code.

  /// What the peer did wrong, if the status of the failure does not say it.
  @exclusivity(unchecked) var fault: PeerAbuse?
  @exclusivity(unchecked) var deframer: Deframer
  /// The bytes that arrived after all waiting messages.
  @exclusivity(unchecked) var held = HeldBytes()
  /// Converts received bytes to gRPC's frames, in other protocols.
  @exclusivity(unchecked) private(set) var converter: (any DialectFraming)?
  /// Converted frames without room: at most the output of one step.
  @exclusivity(unchecked) var converted = HeldBytes()
  @exclusivity(unchecked) var waiting = Queue<MessageBuffer>()
  /// The work on a message that another thread does or will do.
  @exclusivity(unchecked) var piece: LargeMessages.Piece?
  /// The bytes of messages that count as decompressed ones, and the connection's account of them.
  @exclusivity(unchecked) var inflated: (byteCount: Int, account: LargeMessages)?
  /// Whether waiting messages are being delivered.
  @exclusivity(unchecked) var isDelivering = false

  init(_ limit: MessageLimit) { deframer = Deframer(limit: limit) }

  /// Whether everything that arrived has reached the reader, except for an incomplete message.
  var isEmpty: Bool { hasNoBytes && !hasMessages && !isDelivering }

  /// Whether all bytes were split into messages.
  var hasNoBytes: Bool { held.isEmpty && converted.isEmpty }

  var hasMessages: Bool { isInBackground || !waiting.isEmpty }

  var isInBackground: Bool { piece != nil }

  func convert(by converter: (any DialectFraming)?) {
    self.converter = converter
    if let converter { deframer.addedByteCount = converter.addedByteCount }
  }

  func drop() {
    deframer.drop()
    held = HeldBytes()
    converted = HeldBytes()
    waiting.removeAll()
    piece?.cancel()
  }
}

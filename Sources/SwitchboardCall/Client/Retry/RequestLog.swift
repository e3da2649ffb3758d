/// The requests of a call that may have to be sent again: all of them until the call is committed to one attempt,
/// then those that this one has not sent yet.
struct RequestLog {
  private var messages = Queue<MessageBuffer>()
  /// The position in the stream of the first message that is kept.
  private var start = 0
  /// The position after the last message there was.
  private(set) var end = 0
  /// What the messages take in memory.
  private(set) var heldByteCount = 0
  /// No message follows.
  var isComplete = false

  mutating func append(_ message: MessageBuffer) {
    messages.append(message)
    heldByteCount += message.heldByteCount
    end += 1
  }

  /// The message at a position that is kept still.
  subscript(position: Int) -> MessageBuffer? {
    position >= start && position < end ? messages[position - start] : nil
  }

  /// Lets go of the messages before a position.
  mutating func drop(before position: Int) {
    while start < position, let message = messages.popFirst() {
      heldByteCount -= message.heldByteCount
      start += 1
    }
  }
}

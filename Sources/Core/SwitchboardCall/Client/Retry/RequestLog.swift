/// The requests of a call that may be repeated: all of them until the call commits to an attempt, and then those that
/// the attempt has not sent yet.
struct RequestLog {
  private var messages = Queue<MessageBuffer>()
  /// The position of the first message kept.
  private var start = 0
  /// The position after the last message.
  private(set) var end = 0
  private(set) var heldByteCount = 0
  /// Whether the requests have ended.
  var isComplete = false

  mutating func append(_ message: MessageBuffer) {
    messages.append(message)
    heldByteCount += message.heldByteCount
    end += 1
  }

  /// The message at `position`, if it is still kept.
  subscript(position: Int) -> MessageBuffer? {
    position >= start && position < end ? messages[position - start] : nil
  }

  mutating func drop(before position: Int) {
    while start < position, let message = messages.popFirst() {
      heldByteCount -= message.heldByteCount
      start += 1
    }
  }
}

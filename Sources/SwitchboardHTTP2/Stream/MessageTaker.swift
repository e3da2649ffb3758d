import SwitchboardCall

/// Takes the messages of a stream in their order, and decompresses them: what is small at once, the rest on another thread,
/// since a few kilobytes may decompress to a thousand times as much and hold the loop for as long. What follows such a
/// message waits for it. And none is decompressed before the reader has room, so that memory holds one at a time.
///
/// Everything here is on the loop, but for the decompressing.
protocol MessageTaker: AnyObject, Sendable {
  var id: Int32 { get }
  var loop: Loop { get }
  /// `nil` when the stream is over, and the peer needs no room to send more on it.
  var openConnection: Connection? { get }
  var held: HeldMessages { get set }
  /// `nil` for a call that takes a single message.
  var inboundFlow: InboundFlow? { get }
  var announcedCompression: MessageCompression? { get }
  var messageSizeLimit: Int { get }
  /// Whether messages are still of use.
  var wantsMessages: Bool { get }
  /// How many messages have come, whatever became of them.
  var messageCount: Int { get }
  /// What a call that takes a single message fails with when another one comes.
  static var tooManyMessages: GRPCStatus { get }

  /// Takes the next message, as it was before it was compressed.
  func deliver(_ message: MessageBuffer)
  func deliveryFailed(_ status: GRPCStatus)
  /// A message is damaged, or too large once it is decompressed; the failure follows.
  func decompressionFailed(_ abuse: PeerAbuse)
  /// Nothing is held any more.
  func heldMessagesWereTaken()
}

/// Messages that wait for their turn.
struct HeldMessages {
  fileprivate var waiting = Queue<MessageBuffer>()
  fileprivate var isDecompressing = false

  var isEmpty: Bool { waiting.isEmpty && !isDecompressing }
}

extension MessageTaker {
  /// Takes a message as it came, which is counted already.
  func take(_ message: MessageBuffer) throws(GRPCStatus) {
    // At once, and not when its turn comes: nothing else would keep such messages from piling up behind the first.
    guard inboundFlow != nil || messageCount == 1 else { throw Self.tooManyMessages }
    if held.isEmpty, hasRoom(for: message) { return try takeNow(message) }
    held.waiting.append(message)
    inboundFlow?.isHolding = true
    // The reader may have made room before it could know that something waits for it.
    takeHeld()
  }

  /// The reader has made room.
  func takeMore() {
    takeHeld()
    giveCredit()
  }

  /// Lets the peer send as much again as was read.
  func giveCredit() {
    guard let flow = inboundFlow, !flow.isHolding, let connection = openConnection else { return }
    let credit = flow.takeWithheld()
    guard credit > 0 else { return }
    connection.settle(released: credit, on: id)
    connection.setNeedsFlush()
  }

  private func takeHeld() {
    if !held.isEmpty { takeWaiting() }
  }

  /// Takes what waits, as far as there is room, and tells when nothing is held any more. A reader that takes a message
  /// at once has this called again meanwhile.
  private func takeWaiting() {
    while !held.isDecompressing, wantsMessages, let next = held.waiting.first, hasRoom(for: next) {
      _ = held.waiting.popFirst()
      do { try takeNow(next) } catch { return deliveryFailed(error) }
    }
    guard held.isEmpty else { return }
    inboundFlow?.isHolding = false
    heldMessagesWereTaken()
  }

  private func hasRoom(for message: MessageBuffer) -> Bool {
    !message.isCompressed || inboundFlow?.pipe.hasRoom ?? true
  }

  private func takeNow(_ message: MessageBuffer) throws(GRPCStatus) {
    guard message.isCompressed else { return deliver(message) }
    guard let encoding = announcedCompression, encoding != .none else { throw .unannouncedCompression }
    let plain: MessageBuffer?
    do {
      plain = try Compressor.decompressIfSmall(message, encoding, sizeLimit: messageSizeLimit)
    } catch {
      throw blame(error)
    }
    if let plain { deliver(plain) } else { decompressElsewhere(message, encoding) }
  }

  private func decompressElsewhere(_ message: MessageBuffer, _ encoding: MessageCompression) {
    held.isDecompressing = true
    inboundFlow?.isHolding = true
    // The loop must not end before it has heard of it.
    loop.openHandles += 1
    let (loop, limit) = (loop, messageSizeLimit)
    // Of low priority: what most calls wait for comes first.
    Task.detached(priority: .utility) {
      let result = Result { () throws(GRPCStatus) in
        try Compressor.decompress(message, encoding, sizeLimit: limit)
      }
      loop.execute { self.didDecompress(result) }
    }
  }

  private func didDecompress(_ result: Result<MessageBuffer, GRPCStatus>) {
    held.isDecompressing = false
    loop.openHandles -= 1
    guard wantsMessages else { return }
    switch result {
    case .success(let plain): deliver(plain)
    case .failure(let error): return deliveryFailed(blame(error))
    }
    takeWaiting()
  }

  private func blame(_ error: GRPCStatus) -> GRPCStatus {
    decompressionFailed(error.code == .resourceExhausted ? .decompressionBomb : .brokenCompression)
    return error
  }
}

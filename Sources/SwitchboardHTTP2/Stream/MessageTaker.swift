import SwitchboardCall

/// Takes the messages of a stream in their order, as its reader has room for them. What comes before it has stays as it
/// came, in bytes: messages take more, the smallest ones twenty times as much.
///
/// It decompresses them too: what is small at once, the rest on another thread, since a few kilobytes may decompress to a
/// thousand times as much and hold the loop for as long. What follows such a message waits for it. And none is decompressed
/// before the reader has room, so that memory holds one at a time.
///
/// Everything here is on the loop, but for the decompressing.
protocol MessageTaker: AnyObject, Sendable {
  var id: Int32 { get }
  var loop: Loop { get }
  /// `nil` when the stream is over, and the peer needs no room to send more on it.
  var openConnection: Connection? { get }
  var held: HeldMessages { get set }
  var deframer: Deframer { get set }
  /// `nil` for a call that takes a single message.
  var inboundFlow: InboundFlow? { get }
  var announcedCompression: MessageCompression? { get }
  var messageSizeLimit: Int { get }
  /// Whether messages are still of use.
  var wantsMessages: Bool { get }

  /// A message has come.
  func countReceived()
  /// Takes the next message, as it was before it was compressed.
  func deliver(_ message: MessageBuffer) throws(GRPCStatus)
  func deliveryFailed(_ status: GRPCStatus)
  /// A message is damaged, or too large once it is decompressed; the failure follows.
  func decompressionFailed(_ abuse: PeerAbuse)
  /// Nothing is held any more.
  func heldMessagesWereTaken()
}

/// What waits for its turn.
struct HeldMessages {
  /// What came after all that follows.
  fileprivate var bytes = HeldBytes()
  fileprivate var waiting = Queue<MessageBuffer>()
  fileprivate var isDecompressing = false
  /// What is held is being handed on.
  fileprivate var isTaking = false

  var isEmpty: Bool { bytes.isEmpty && !hasMessages && !isTaking }

  fileprivate var hasMessages: Bool { isDecompressing || !waiting.isEmpty }

  /// Nobody wants it any more.
  mutating func drop() {
    bytes = HeldBytes()
    waiting.removeAll()
  }
}

extension MessageTaker {
  /// Takes bytes that came.
  func take(bytes: UnsafeRawBufferPointer) throws(GRPCStatus) {
    // What belongs to a message that is there already costs nothing more.
    let rest = held.bytes.isEmpty && (deframer.isInsideBody || hasRoomForMessages) ? try cut(bytes) : bytes
    guard !rest.isEmpty else { return }
    held.bytes.append(rest)
    inboundFlow?.isHolding = true
    // The reader may have made room before it could know that something waits for it.
    takeHeld()
  }

  /// Takes the messages that these bytes complete, until there is no room. Returns what is left.
  private func cut(_ bytes: UnsafeRawBufferPointer) throws(GRPCStatus) -> UnsafeRawBufferPointer {
    try deframer.push(bytes) { message throws(GRPCStatus) in
      countReceived()
      try take(message)
      return hasRoomForMessages ? .forMore : .none
    }
  }

  /// A call that takes a single message is told of a second when it comes.
  private var hasRoomForMessages: Bool { inboundFlow.map { !held.hasMessages && $0.pipe.hasRoom } ?? true }

  private func take(_ message: MessageBuffer) throws(GRPCStatus) {
    if !held.hasMessages, hasRoom(for: message) { return try takeNow(message) }
    held.waiting.append(message)
    inboundFlow?.isHolding = true
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

  /// Takes what is held, as far as there is room, and tells when nothing is any more. A reader that takes a message at once
  /// has this called again meanwhile, as do messages that are held again.
  private func takeWaiting() {
    guard !held.isTaking else { return }
    held.isTaking = true
    do throws(GRPCStatus) {
      while wantsMessages, !held.isDecompressing, try takeNextHeld() {}
    } catch {
      held.isTaking = false
      return deliveryFailed(error)
    }
    held.isTaking = false
    guard held.isEmpty else { return }
    inboundFlow?.isHolding = false
    heldMessagesWereTaken()
  }

  /// `false` when there is nothing, or no room for it.
  private func takeNextHeld() throws(GRPCStatus) -> Bool {
    if let next = held.waiting.first {
      guard hasRoom(for: next) else { return false }
      _ = held.waiting.popFirst()
      try takeNow(next)
      return true
    }
    guard !held.bytes.isEmpty, hasRoomForMessages else { return false }
    var bytes = held.bytes
    held.bytes = HeldBytes()
    try bytes.take { bytes throws(GRPCStatus) in try cut(bytes) }
    held.bytes = bytes
    return true
  }

  private func hasRoom(for message: MessageBuffer) -> Bool {
    !message.isCompressed || inboundFlow?.pipe.hasRoom ?? true
  }

  private func takeNow(_ message: MessageBuffer) throws(GRPCStatus) {
    guard message.isCompressed else { return try deliver(message) }
    guard let encoding = announcedCompression, encoding != .none else { throw .unannouncedCompression }
    let plain: MessageBuffer?
    do {
      plain = try Compressor.decompressIfSmall(message, encoding, sizeLimit: messageSizeLimit)
    } catch {
      throw blame(error)
    }
    if let plain { try deliver(plain) } else { decompressElsewhere(message, encoding) }
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
    do throws(GRPCStatus) {
      switch result {
      case .success(let plain): try deliver(plain)
      case .failure(let error): throw blame(error)
      }
    } catch {
      return deliveryFailed(error)
    }
    takeWaiting()
  }

  private func blame(_ error: GRPCStatus) -> GRPCStatus {
    decompressionFailed(error.code == .resourceExhausted ? .decompressionBomb : .brokenCompression)
    return error
  }
}

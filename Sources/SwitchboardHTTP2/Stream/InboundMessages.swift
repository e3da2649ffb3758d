import SwitchboardCall

/// The messages that come on a stream, on the way to their reader.
///
/// ```
///   bytes ──the reader has room──> deframer ──> waiting ──decompressed──> the pipe, or the single message
///     └──it has none──> held bytes ──room──^
/// ```
/// What the reader has no room for stays as it came, in bytes: messages take more, the smallest ones twenty times as much.
struct InboundMessages {
  var single = SingleMessage.none
  /// What has come, whatever became of it.
  var totals = MessageTotals()
  /// What the peer did wrong, where that is more than the status of the failure says.
  fileprivate(set) var fault: PeerAbuse?
  fileprivate(set) var deframer: Deframer
  /// What came after all that is waiting.
  fileprivate(set) var held = HeldBytes()
  fileprivate(set) var waiting = Queue<MessageBuffer>()
  fileprivate(set) var isDecompressing = false
  /// What waits is being handed on.
  fileprivate(set) var isTaking = false

  /// Whether everything that came has reached the reader, except for a message of which a part is missing.
  var isEmpty: Bool { held.isEmpty && !hasMessages && !isTaking }

  fileprivate var hasMessages: Bool { isDecompressing || !waiting.isEmpty }

  var isInsideMessage: Bool { deframer.isInsideMessage }

  /// Nobody wants them any more.
  mutating func drop() {
    held = HeldBytes()
    waiting.removeAll()
  }
}

/// The message of a call that takes a single one, until it is taken.
enum SingleMessage {
  case none
  /// It lies in the read buffer, until the connection has gone through its ready streams.
  case lent(UnsafeRawBufferPointer)
  case kept(MessageBuffer)
}

/// A stream that takes messages in their order, as its reader has room for them.
///
/// It decompresses them too: what is small at once, the rest on another thread, since a few kilobytes may decompress to a
/// thousand times as much and hold the loop for as long. What follows such a message waits for it. And none is decompressed
/// before the reader has room, so that memory holds one at a time.
///
/// Everything here is on the loop, but for the decompressing and what is said otherwise.
protocol MessageTaker: AnyObject, Sendable {
  var id: Int32 { get }
  var loop: Loop { get }
  /// `nil` when the stream is over, and the peer needs no room to send more on it.
  var openConnection: Connection? { get }
  var inbound: InboundMessages { get set }
  /// Leads to the reader; `nil` for a call that takes a single message. Any thread may use it, unlike `inbound`.
  var flow: InboundFlow? { get }
  var announcedCompression: MessageCompression? { get }
  /// Whether messages are still of use.
  var wantsMessages: Bool { get }
  /// What a call that takes a single message fails with when another one comes.
  static var tooManyMessages: GRPCStatus { get }

  /// A message has come.
  func countReceived()
  /// The single message is there, or the call has failed: has `processReady` called.
  func goOn()
  /// The messages are not what they should be.
  func fail(_ status: GRPCStatus)
  /// Nothing waits for the reader any more.
  func heldMessagesWereTaken()
}

extension MessageTaker {
  /// Takes bytes that arrived, and returns how many of them the peer may send again at once.
  func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    inbound.totals.bytes += bytes.count
    if flow == nil, inbound.totals.messages == 0, let whole = inbound.deframer.wholeMessage(in: bytes) {
      inbound.single = .lent(whole)
      countReceived()
      goOn()
    } else {
      deframe(bytes)
    }
    return flow?.credit(forArrived: bytes.count) ?? bytes.count
  }

  func deframe(_ bytes: UnsafeRawBufferPointer) {
    do throws(GRPCStatus) {
      // What belongs to a message that is there already costs nothing more.
      let takesNow = inbound.held.isEmpty && (inbound.deframer.isInsideBody || hasRoom)
      let rest = takesNow ? try cut(bytes) : bytes
      guard !rest.isEmpty else { return }
      inbound.held.append(rest)
    } catch {
      return fail(error)
    }
    flow?.isHolding = true
    // The reader may have made room before it could know that something waits for it.
    takeHeld()
  }

  /// Takes the messages that these bytes complete, until there is no room. Returns what is left.
  private func cut(_ bytes: UnsafeRawBufferPointer) throws(GRPCStatus) -> UnsafeRawBufferPointer {
    var rest = bytes
    while let message = try inbound.deframer.next(&rest) {
      countReceived()
      try take(message)
      guard hasRoom else { break }
    }
    return rest
  }

  private func take(_ message: MessageBuffer) throws(GRPCStatus) {
    // At once, and not when its turn comes: nothing else would keep such messages from piling up behind the first.
    guard flow != nil || inbound.totals.messages == 1 else { throw Self.tooManyMessages }
    if !inbound.hasMessages, hasRoom(for: message) { return try takeNow(message) }
    inbound.waiting.append(message)
    flow?.isHolding = true
    takeHeld()
  }

  /// The reader has made room.
  func takeMore() {
    takeHeld()
    giveCredit()
  }

  /// Lets the peer send as much again as was read.
  func giveCredit() {
    guard let flow, !flow.isHolding, let connection = openConnection else { return }
    let credit = flow.takeWithheld()
    guard credit > 0 else { return }
    connection.settle(released: credit, on: id)
    connection.setNeedsFlush()
  }

  private func takeHeld() {
    if !inbound.isEmpty { takeWaiting() }
  }

  /// Takes what is held, as far as there is room, and tells when nothing is any more. A reader that takes a message at once
  /// has this called again meanwhile, as do messages that are held again.
  private func takeWaiting() {
    guard !inbound.isTaking else { return }
    inbound.isTaking = true
    do throws(GRPCStatus) {
      while wantsMessages, !inbound.isDecompressing, try takeNextHeld() {}
    } catch {
      inbound.isTaking = false
      return deliveryFailed(error)
    }
    inbound.isTaking = false
    guard inbound.isEmpty else { return }
    flow?.isHolding = false
    heldMessagesWereTaken()
  }

  /// `false` when there is nothing, or no room for it.
  private func takeNextHeld() throws(GRPCStatus) -> Bool {
    if let next = inbound.waiting.first {
      guard hasRoom(for: next) else { return false }
      _ = inbound.waiting.popFirst()
      try takeNow(next)
      return true
    }
    guard !inbound.held.isEmpty, hasRoom else { return false }
    var bytes = inbound.held
    inbound.held = HeldBytes()
    try bytes.take { bytes throws(GRPCStatus) in try cut(bytes) }
    inbound.held = bytes
    return true
  }

  /// A call that takes a single message fails when a second one comes.
  private var hasRoom: Bool { flow.map { !inbound.hasMessages && $0.pipe.hasRoom } ?? true }

  private func hasRoom(for message: MessageBuffer) -> Bool {
    !message.isCompressed || flow?.pipe.hasRoom ?? true
  }

  private func takeNow(_ message: MessageBuffer) throws(GRPCStatus) {
    guard message.isCompressed else { return deliver(message) }
    guard let encoding = announcedCompression, encoding != .none else { throw .unannouncedCompression }
    let plain: MessageBuffer?
    do {
      plain = try Compressor.decompressIfSmall(message, encoding, sizeLimit: inbound.deframer.sizeLimit)
    } catch {
      throw blame(error)
    }
    if let plain { deliver(plain) } else { decompressElsewhere(message, encoding) }
  }

  /// Hands on a message as it was before it was compressed.
  private func deliver(_ message: MessageBuffer) {
    if let flow {
      flow.pipe.push(message)
    } else {
      inbound.single = .kept(message)
      goOn()
    }
  }

  private func deliveryFailed(_ status: GRPCStatus) {
    fail(status)
    goOn()
  }

  private func decompressElsewhere(_ message: MessageBuffer, _ encoding: MessageCompression) {
    inbound.isDecompressing = true
    flow?.isHolding = true
    // The loop must not end before it has heard of it.
    loop.openHandles += 1
    let (loop, limit) = (loop, inbound.deframer.sizeLimit)
    // Of low priority: what most calls wait for comes first.
    Task.detached(priority: .utility) {
      let result = Result { () throws(GRPCStatus) in
        try Compressor.decompress(message, encoding, sizeLimit: limit)
      }
      loop.execute { self.didDecompress(result) }
    }
  }

  private func didDecompress(_ result: Result<MessageBuffer, GRPCStatus>) {
    inbound.isDecompressing = false
    loop.openHandles -= 1
    guard wantsMessages else { return }
    switch result {
    case .success(let plain): deliver(plain)
    case .failure(let error): return deliveryFailed(blame(error))
    }
    takeWaiting()
  }

  private func blame(_ error: GRPCStatus) -> GRPCStatus {
    inbound.fault = error.code == .resourceExhausted ? .decompressionBomb : .brokenCompression
    return error
  }
}

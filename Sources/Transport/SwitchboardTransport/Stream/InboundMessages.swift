// unsafe: framing in place over bytes that the session lends

import SwitchboardCall
import SwitchboardNetwork

/// The messages that arrive on a stream, on the way to their reader.
///
/// ```
///   bytes ──the reader has room──> deframer ──> waiting ──decompressed──> the pipe, or the single message
///     └──it has none──> held bytes ──room──^
/// ```
/// Bytes for which the reader has no room stay as they arrived, because messages would take more memory: the smallest
/// ones, twenty times as much. The same applies to bytes that must be converted first, in protocols other than gRPC.
struct InboundMessages {
  var single = SingleMessage.none
  /// The number and size of all messages that have arrived.
  var totals = MessageTotals()
  /// The largest message.
  let limit: MessageLimit
  /// What is on the way. `nil` for a call whose one message has come in one piece, as most do: it would be the largest part of
  /// what a call takes.
  private var intake: MessageIntake?

  init(limit: MessageLimit) { self.limit = limit }

  fileprivate mutating func makeIntake() -> MessageIntake {
    if let intake { return intake }
    let new = MessageIntake(limit)
    intake = new
    return new
  }

  /// Whether everything that arrived has reached the reader, except for an incomplete message.
  @inline(__always) var isEmpty: Bool { intake?.isEmpty ?? true }

  fileprivate var hasMessages: Bool { intake?.hasMessages ?? false }

  /// Whether messages count as decompressed ones of the connection.
  var hasInflated: Bool { intake?.inflated != nil }

  @inline(__always) var isInsideMessage: Bool { intake?.deframer.isInsideMessage ?? false }

  /// How many bytes have arrived of a message that is incomplete.
  @inline(__always) var filledByteCount: Int { intake?.deframer.filledByteCount ?? 0 }

  /// Converts received bytes to gRPC's frames, in other protocols.
  var converter: (any DialectFraming)? {
    @inline(__always) get { intake?.converter }
    set { if newValue != nil || intake != nil { makeIntake().convert(by: newValue) } }
  }

  /// What the peer did wrong, if the status of the failure does not say it.
  var fault: PeerAbuse? { intake?.fault }

  /// Lets a frame with this flag end the body.
  mutating func endWith(_ flag: UInt8, limit: Int) { makeIntake().deframer.endWith(flag, limit: limit) }

  /// The frame that ended the body.
  var end: MessageBuffer? { intake?.deframer.end }

  fileprivate func takeInflated() -> (byteCount: Int, account: LargeMessages)? { intake?.inflated.take() }

  /// The single message, for its reader.
  mutating func takeSingle() -> SingleMessage {
    let message = single
    single = .none
    return message
  }

  /// Drops a message in the read buffer, which will be reused.
  mutating func dropLent() { if case .lent = single { single = .none } }

  /// What the peer did wrong, if messages failed with this status.
  func abuse(_ status: GRPCStatus) -> PeerAbuse {
    fault ?? (status.code == .resourceExhausted ? .messageTooLarge : .brokenFraming)
  }

  fileprivate func drop() { intake?.drop() }
}

/// A stream that delivers messages in order, as its reader has room for them.
///
/// It also decompresses them. Small messages are decompressed at once, as long as the loop has time for that, others on
/// another thread, because a few kilobytes may decompress to a thousand times their size and occupy the loop accordingly.
/// Later messages wait for them. A message is only decompressed when the reader and the connection have room.
///
/// Everything runs on the loop, except for decompression and what is documented otherwise.
protocol InboundMessageStream: AnyObject, Sendable {
  var id: Int32 { get }
  var loop: Loop { get }
  associatedtype StreamConnection: Connection
  /// The stream's connection; `nil` if the stream is over, so that the peer needs no room to send more on it.
  var openConnection: StreamConnection? { get }
  var inbound: InboundMessages { get set }
  /// Leads to the reader; `nil` for a call that takes a single message. Any thread may use it, unlike `inbound`.
  var flow: InboundFlow? { get }
  var announcedCompression: MessageCompression? { get }
  /// The work on the connection's large messages.
  var largeMessages: LargeMessages { get }
  /// Whether messages are still needed.
  var wantsMessages: Bool { get }
  /// The failure of a call with a single message when another one arrives.
  static var tooManyMessages: GRPCStatus { get }

  /// Called when a message has arrived, of this size after decompression.
  func countReceived(_ byteCount: Int)
  /// Called when the single message is complete or the call has failed. Schedules `processReady`.
  func proceed()
  /// Called when the messages are invalid.
  func fail(_ status: GRPCStatus)
  /// Called when no messages wait for the reader any more.
  func heldMessagesWereDelivered()
}

extension InboundMessageStream {
  /// Processes bytes that arrived, and returns how many bytes the peer may send again at once.
  func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    inbound.totals.bytes += bytes.count
    if flow == nil, inbound.totals.messages == 0, !inbound.isInsideMessage,
      let whole = Deframer.wholeMessage(in: bytes, limit: inbound.limit)
    {
      inbound.single = .lent(whole)
      countReceived(whole.count)
      proceed()
    } else {
      deframe(bytes)
    }
    return flow?.credit(forArrived: bytes.count) ?? bytes.count
  }

  /// Takes a message that did not arrive in a frame.
  func receiveUnframed(_ message: MessageBuffer) {
    countReceived(message.byteCount)
    do throws(GRPCStatus) {
      _ = try accept(message, flush: true)
    } catch {
      fail(error)
    }
  }

  func deframe(_ bytes: UnsafeRawBufferPointer) {
    let intake = inbound.makeIntake()
    do throws(GRPCStatus) {
      // The rest of a message that has started needs no more memory.
      let canDeliver = intake.hasNoBytes && (intake.deframer.isInsideBody || hasRoom)
      let rest = canDeliver ? try convertAndSplit(bytes, intake) : bytes
      if !rest.isEmpty { intake.held.append(rest) }
      guard !intake.hasNoBytes else { return }
    } catch {
      return fail(error)
    }
    flow?.isHolding = true
    // The reader may have made room before it could know that bytes wait.
    deliverHeld()
  }

  /// Delivers the messages that these bytes complete, until there is no room. Returns the remaining bytes.
  private func convertAndSplit(
    _ bytes: UnsafeRawBufferPointer,
    _ intake: MessageIntake
  ) throws(GRPCStatus) -> UnsafeRawBufferPointer {
    guard let converter = intake.converter else { return try split(bytes, intake) }
    var rest = bytes
    while true {
      if !intake.converted.isEmpty {
        var frames = intake.converted
        intake.converted = HeldBytes()
        try frames.take { frames throws(GRPCStatus) in try split(frames, intake) }
        intake.converted = frames
      }
      guard !rest.isEmpty, intake.converted.isEmpty, hasRoom else { return rest }
      let frames = try converter.frames(from: &rest, inbound.limit)
      frames.withUnsafeBytes { intake.converted.append($0) }
    }
  }

  /// The same for bytes that are gRPC's frames.
  ///
  /// A waiting reader is woken when all messages have been delivered. Waking costs as much as ten small messages, and
  /// the reader would otherwise read the first message before the second is delivered, and wait again.
  private func split(
    _ bytes: UnsafeRawBufferPointer,
    _ intake: MessageIntake
  ) throws(GRPCStatus) -> UnsafeRawBufferPointer {
    var rest = bytes
    var isFlushed = true
    defer { if !isFlushed { flow?.pipe.flush() } }
    while let message = try intake.deframer.next(&rest) {
      countReceived(message.byteCount)
      isFlushed = rest.isEmpty
      guard try accept(message, flush: isFlushed) else { break }
    }
    return rest
  }

  /// Delivers a message, or keeps it until there is room. Returns whether there is room for another.
  private func accept(_ message: MessageBuffer, flush: Bool) throws(GRPCStatus) -> Bool {
    // Checked at once, and not when the message is delivered. Nothing else would stop such messages from piling up
    // behind the first.
    guard flow != nil || inbound.totals.messages == 1 else { throw Self.tooManyMessages }
    if !inbound.hasMessages, hasRoom(for: message) { return try decompressAndDeliver(message, flush: flush) }
    inbound.makeIntake().waiting.append(message)
    flow?.isHolding = true
    deliverHeld()
    return hasRoom
  }

  /// Called when the reader has made room.
  func roomWasMade() {
    if flow?.pipe.hasMuchRoom ?? false { releaseInflated() }
    deliverHeld()
    giveCredit()
  }

  /// Counts the message that is delivered next as a decompressed one of the connection.
  private func count(inflated byteCount: Int) {
    let intake = inbound.makeIntake()
    let account = intake.inflated?.account ?? largeMessages
    intake.inflated = (byteCount + (intake.inflated?.byteCount ?? 0), account)
    account.add(inflated: byteCount)
    flow?.isInflated = true
  }

  /// The decompressed messages were read. What is left of them in the pipe counts as the stream's other messages do.
  func releaseInflated() {
    guard let (byteCount, account) = inbound.takeInflated() else { return }
    flow?.isInflated = false
    account.release(inflated: byteCount)
  }

  /// Drops the messages, which are no longer needed.
  func dropMessages() {
    // Most calls have read all of them: to release what is empty costs them more than to ask.
    guard !inbound.isEmpty || inbound.isInsideMessage else { return }
    inbound.drop()
  }

  /// Lets the peer send as many bytes as were read.
  func giveCredit() {
    guard let flow, !flow.isHolding, let connection = openConnection else { return }
    let credit = flow.takeWithheld()
    guard credit > 0 else { return }
    connection.settle(released: credit, on: id)
  }

  private func deliverHeld() { if !inbound.isEmpty { deliverWaiting() } }

  /// Delivers waiting messages as far as there is room, and reports when none are left. It may be called recursively,
  /// by a reader that reads a message immediately and by messages that are held again.
  private func deliverWaiting() {
    let intake = inbound.makeIntake()
    guard !intake.isDelivering else { return }
    intake.isDelivering = true
    do throws(GRPCStatus) {
      while wantsMessages, !intake.isInBackground, try deliverNext(of: intake) {}
    } catch {
      intake.isDelivering = false
      return deliveryFailed(error)
    }
    intake.isDelivering = false
    guard inbound.isEmpty else { return }
    flow?.isHolding = false
    heldMessagesWereDelivered()
  }

  /// Returns `false` if nothing waits or there is no room.
  private func deliverNext(of intake: MessageIntake) throws(GRPCStatus) -> Bool {
    if let next = intake.waiting.first {
      guard hasRoom(for: next) else { return false }
      _ = intake.waiting.popFirst()
      try decompressAndDeliver(next, flush: true)
      return true
    }
    guard !intake.hasNoBytes, hasRoom else { return false }
    var bytes = intake.held
    intake.held = HeldBytes()
    try bytes.take { bytes throws(GRPCStatus) in try convertAndSplit(bytes, intake) }
    intake.held = bytes
    return true
  }

  /// A call that takes a single message fails when a second one comes.
  private var hasRoom: Bool { flow.map { !inbound.hasMessages && $0.pipe.hasRoom } ?? true }

  private func hasRoom(for message: MessageBuffer) -> Bool {
    !message.isCompressed || flow?.pipe.hasRoom ?? true
  }

  /// Returns whether there is room for another message.
  @discardableResult
  private func decompressAndDeliver(_ message: MessageBuffer, flush: Bool) throws(GRPCStatus) -> Bool {
    guard message.isCompressed else { return deliver(message, flush: flush) }
    guard let encoding = announcedCompression, encoding != .none else { throw .unannouncedCompression }
    if !loop.hasWorkedEnough {
      let plain: MessageBuffer?
      do {
        plain = try Compressor.decompressIfSmall(message, encoding, limit: inbound.limit)
      } catch {
        throw noteFault(error)
      }
      loop.count(message: plain?.byteCount ?? Compressor.smallByteCount)
      if let plain { return deliver(plain, flush: flush) }
    }
    decompressInBackground(message, encoding)
    return hasRoom
  }

  /// Delivers a message that is not or no longer compressed. Returns whether there is room for another.
  @discardableResult
  private func deliver(_ message: MessageBuffer, flush: Bool) -> Bool {
    if let flow {
      // The pipe is asked again only if it is full or has ended: its lock is shared with the reader.
      return flow.pipe.push(message, flush: flush) && !inbound.hasMessages || hasRoom
    }
    inbound.single = .kept(message)
    proceed()
    return true
  }

  private func deliveryFailed(_ status: GRPCStatus) {
    fail(status)
    proceed()
  }

  private func decompressInBackground(_ message: MessageBuffer, _ encoding: MessageCompression) {
    flow?.isHolding = true
    let limit = inbound.limit
    runInBackground(inflating: true) { () throws(GRPCStatus) in
      try Compressor.decompress(message, encoding, limit: limit)
    } then: { stream, result in
      stream.didDecompress(result)
    }
  }

  private func didDecompress(_ result: Result<MessageBuffer, GRPCStatus>) {
    switch result {
    case .success(let plain):
      count(inflated: plain.byteCount)
      deliver(plain, flush: true)
    case .failure(let error): return deliveryFailed(noteFault(error))
    }
    deliverWaiting()
  }

  /// Processes a message on another thread. Later messages wait for it. The result is dropped if the call is over.
  func runInBackground<Product: Sendable>(
    inflating: Bool = false,
    _ work: @escaping @Sendable () throws(GRPCStatus) -> Product,
    then finish: @escaping @Sendable (Self, Result<Product, GRPCStatus>) -> Void
  ) {
    inbound.makeIntake().piece = largeMessages.run(inflating: inflating) {
      Result(catching: work)
    } then: { result in
      self.inbound.makeIntake().piece = nil
      if self.wantsMessages, let result { finish(self, result) }
    }
  }

  private func noteFault(_ error: GRPCStatus) -> GRPCStatus {
    // The peer cannot help it if memory is lacking.
    guard error != .noMemoryToDecompress else { return error }
    inbound.makeIntake().fault = error.code == .resourceExhausted ? .decompressionBomb : .brokenCompression
    return error
  }
}

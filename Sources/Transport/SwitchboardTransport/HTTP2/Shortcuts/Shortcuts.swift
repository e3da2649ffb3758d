// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall
import SwitchboardNetwork

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// What stands between an HTTP/2 session's socket and nghttp2, and spares nghttp2 what repeats from call to call.
///
/// The peer of a session cannot tell whether it takes shortcuts: it receives the same frames. Nor can its streams, which
/// receive the same fields. nghttp2 alone receives and makes less. Each shortcut is right only under conditions; where one
/// of them does not hold, the bytes go through nghttp2.
///
/// # A head that repeats an earlier one (`RepeatedHeads`, on a server)
///
/// HPACK decodes equal blocks to equal fields if its table is the same both times. nghttp2 then receives a stand-in: a
/// valid request of few fields, with the frame's own flags and number. The stream receives what another one has kept of the
/// fields. So:
/// - The frame is the whole head of a new stream: it ends the block, has neither padding nor a priority, is no larger than
///   this side accepts, and is all there (`FloodGuard.Finding.request`).
/// - The block does not change the table (`EncodedFields.mayChangeTable`), and no block since the earlier one may have:
///   those of trailers, in several frames, with padding, of any other kind. Nor did settings arrive; they may announce a
///   smaller table, or acknowledge one (`FloodGuard.Finding.otherBlock`). All of them make `forget` run.
/// - nghttp2 has accepted the earlier head, and the stream wants to keep it (`SessionStream.keptHead`): that of a valid call
///   of gRPC, or of one whose dialect makes equal calls of equal heads.
/// - The stand-in has all that nghttp2 remembers of a head for later: `content-length`, which it compares with the body. A
///   head with `host`, of which it refuses a second one in trailers, is not kept.
/// - The head is charged nothing (`Session.areHeadersFree`), with a `traceparent` too.
/// - The client has not announced that it leaves. nghttp2 ignores a call with more bytes once it expects none, and a shortcut
///   divides what was read into several calls.
///
/// # A `traceparent` that ends a head (`LateTraceParent`, on both sides)
///
/// It differs in every call, so a head that has it does not repeat another one. Both sides put it at the end of the block,
/// as a literal that changes no table. Thus a receiver takes it from there:
/// - if the frame is the whole head of a new stream, as above, and streams want it;
/// - if the bytes are exactly those that `LateTraceParent.write` makes, and their value is valid;
/// - if another field ends where they begin. Otherwise they may be the end of a string.
///
/// If a head has others with that name, too, all keep their order, but perhaps not their places among other fields.
///
/// A sender appends it to the frame that nghttp2 has made, if that is the whole head, has no padding, and was announced as
/// small enough for every peer's frames (`HeaderWriter.announceTraceParent`).
///
/// # The trailers of success (`KnownTrailers`, on a server)
///
/// HPACK encodes equal fields to equal bytes if its table is the same. nghttp2 then ends the stream with its body, and the
/// known bytes follow in the output, with the end of the stream. So:
/// - They say nothing but success (`Trailers.success`), nghttp2 has encoded them alone in one frame of the same form before,
///   and the block does not change the table.
/// - No block that was sent since then may have changed the table, and no settings of the peer have arrived.
/// - The last piece of the body is in the frame that nghttp2 returns, so that nothing comes between them.
final class Shortcuts {
  // Unchecked exclusivity: confined to the loop of its connection. An object of its own, because nghttp2 calls back into it
  // from within its methods.

  /// Whether sessions have shortcuts: this is the switch. `SWITCHBOARD_SHORTCUTS=off` in the environment of the process
  /// turns it off, to see whether what is observed has to do with them.
  static let areOn = getenv("SWITCHBOARD_SHORTCUTS").map { strcmp($0, "off") != 0 } ?? true

  /// Whether streams want the header `traceparent` of requests from their ends.
  @exclusivity(unchecked) var takesTraceParents = false
  /// The heads that a client repeats; `nil` until its first one that may be repeated.
  @exclusivity(unchecked) private var heads: RepeatedHeads?
  /// What nghttp2 does not see of the head that it is receiving.
  @exclusivity(unchecked) private var traceParent: SpanIdentity?
  /// Whether heads may be shortened: until the client announces that it leaves.
  @exclusivity(unchecked) var shortensHeads = true
  /// Whether nghttp2 is receiving a stand-in.
  @exclusivity(unchecked) private(set) var hidesFields = false

  @exclusivity(unchecked) private(set) var trailers = KnownTrailers()
  /// Whether the trailers follow the frame that nghttp2 is about to return.
  @exclusivity(unchecked) private var trailersFollow = false
  /// Whether `traceparent` was announced for any request.
  @exclusivity(unchecked) private var sendsTraceParents = false
}

// MARK: - Receiving

extension Shortcuts {
  /// What nghttp2 receives of a head.
  enum ShortHead {
    /// A stand-in for the known head of this number.
    case standIn(Int, SpanIdentity?)
    /// All but its end.
    case withoutEnd(SpanIdentity)
  }

  /// Whether nghttp2 has to receive the bytes before the next head, because the stream of one of them may keep its own.
  var awaitsHead: Bool { heads?.isWaiting ?? false }

  func stopAwaitingHead() { heads?.stopWaiting() }

  /// Finds what of the frame with the whole head of a request nghttp2 need not see. `nil`: it has to see all of it.
  func shorten(_ frame: UnsafeRawBufferPointer, limit: Int) -> ShortHead? {
    // nghttp2 refuses larger ones.
    guard frame.count - FloodGuard.headSize <= limit else {
      forgetHeads()
      return nil
    }
    let identity = takesTraceParents ? LateTraceParent.identity(atEndOf: frame) : nil
    let end = frame.count - (identity == nil ? 0 : LateTraceParent.byteCount)
    let block = UnsafeRawBufferPointer(rebasing: frame[FloodGuard.headSize..<end])
    if let known = heads?.index(of: block) { return .standIn(known, identity) }
    guard note(block, of: frame) else {
      // What looked like the header was a part of a string.
      if identity != nil {
        _ = note(UnsafeRawBufferPointer(rebasing: frame[FloodGuard.headSize...]), of: frame)
      }
      return nil
    }
    return identity.map(ShortHead.withoutEnd)
  }

  /// Notes a block that is not known. Returns `false` if no field ends where it does.
  private func note(_ block: UnsafeRawBufferPointer, of frame: UnsafeRawBufferPointer) -> Bool {
    var fields = EncodedFields(block)
    let isWhole = fields.skipAll()
    if fields.mayChangeTable {
      forgetHeads()
    } else {
      let heads = heads ?? RepeatedHeads()
      self.heads = heads
      let id = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7fff_ffff
      heads.note(block, of: Int32(id))
    }
    return isWhole
  }

  /// Calls `pass` with what nghttp2 is to receive of the frame, until it returns a negative error.
  func pass(
    _ head: ShortHead,
    of frame: UnsafeRawBufferPointer,
    _ pass: (UnsafeRawBufferPointer) -> Int
  ) -> Int {
    defer { (traceParent, hidesFields) = (nil, false) }
    switch head {
    case .standIn(let known, let identity):
      (traceParent, hidesFields) = (identity, true)
      return heads?.standIn(known, for: frame, pass) ?? 0
    case .withoutEnd(let identity):
      traceParent = identity
      return LateTraceParent.passRest(of: frame, pass)
    }
  }

  /// Called when nghttp2 begins to receive the head of a stream, which receives here what nghttp2 does not see.
  @inline(__always)
  func headDidBegin(of stream: Unmanaged<StreamEntry>, in session: Session) {
    if traceParent != nil { deliverTraceParent(to: stream, in: session) }
    if hidesFields, let kept = heads?.kept { stream.withStream { $0.receiveHead(kept) } }
  }

  /// Not inlined: few connections use it.
  @inline(never)
  private func deliverTraceParent(to stream: Unmanaged<StreamEntry>, in session: Session) {
    guard let identity = traceParent.take(), session.countHeader(SpanIdentity.listSize - 32) else {
      return
    }
    stream.withStream { $0.receiveTraceParent(identity) }
  }

  /// Called when nghttp2 has received the head of a request, and its stream has read it.
  @inline(__always)
  func headDidEnd(of stream: any SessionStream, in session: Session) {
    guard !hidesFields, let heads, heads.awaits(stream.id) else { return }
    keepHead(of: stream, heads, in: session)
  }

  private func keepHead(of stream: any SessionStream, _ heads: RepeatedHeads, in session: Session) {
    guard session.areHeadersFree, let kept = stream.keptHead, kept.value(of: "host") == nil else { return }
    heads.keep(kept)
  }

  /// Called when what the client sends may change how later heads are decoded. A session that is packed calls it too:
  /// nothing is kept for a connection that nobody uses.
  func forgetHeads() { heads?.forget() }

  func freeHeads() { heads = nil }
}

// MARK: - Sending

extension Shortcuts {
  /// Called when a request is submitted.
  func requestWasSubmitted(_ headers: HeaderWriter) {
    if headers.awaitsTraceParent { sendsTraceParents = true }
  }

  /// Called when settings of the peer were received. The size of the table for headers may be among them.
  func settingsDidArrive() { trailers.forget() }

  /// Called when the body of a stream ends, and the trailers of success follow. Whether nghttp2 need not encode them.
  func endsWithKnownTrailers(_ stream: Int32, isBodyCopied: Bool) -> Bool {
    guard isBodyCopied, trailers.areKnown else {
      trailers.await(on: stream)
      return false
    }
    trailersFollow = true
    return true
  }

  /// Appends a frame that nghttp2 has made, and what belongs to it that nghttp2 does not know of.
  @inline(__always)
  func append(_ frame: UnsafeRawBufferPointer, to target: OutputBuffer, in session: Session) {
    if trailersFollow {
      trailersFollow = false
      return appendWithTrailers(frame, to: target, in: session)
    }
    trailers.note(frame)
    if sendsTraceParents {
      LateTraceParent.append(frame, with: traceParent(of: frame, in: session), to: target)
    } else {
      target.append(frame)
    }
  }

  /// Appends the frame with which nghttp2 ends a stream, and the trailers with which the stream ends. nghttp2 has already
  /// reported the end, and what was submitted in answer is sent after this.
  private func appendWithTrailers(
    _ frame: UnsafeRawBufferPointer,
    to target: OutputBuffer,
    in session: Session
  ) {
    // An empty frame only ends the stream.
    let bodySize = frame.count > FloodGuard.headSize ? frame.count : 0
    let count = bodySize + trailers.frameSize
    target.append(atMost: count) { memory in
      memory.copyMemory(from: UnsafeRawBufferPointer(rebasing: frame[..<bodySize]))
      if bodySize > 0 { memory[4] &= ~UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) }
      trailers.write(after: frame, to: UnsafeMutableRawBufferPointer(rebasing: memory[bodySize...]))
      return count
    }
    // nghttp2 has reported one frame.
    if bodySize > 0 { session.watch.earn(forSending: trailers.frameSize - FloodGuard.headSize) }
  }

  /// What was announced for the request whose whole head a frame is.
  private func traceParent(of frame: UnsafeRawBufferPointer, in session: Session) -> SpanIdentity? {
    let wanted = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
    guard frame.count > FloodGuard.headSize, UInt32(frame[3]) == NGHTTP2_HEADERS.rawValue,
      frame[4] & (wanted | UInt8(NGHTTP2_FLAG_PADDED.rawValue)) == wanted
    else { return nil }
    let id = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7fff_ffff
    return session.stream(Int32(id))?.withStream { $0.takeTraceParent() }
  }
}

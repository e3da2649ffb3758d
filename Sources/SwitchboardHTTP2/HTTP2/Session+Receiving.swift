// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall

/// Receiving, and what of it nghttp2 does not see.
extension Session {
  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offence? {
    var passed = 0
    var scanned = 0
    var end = bytes.count
    var result = 0
    var offence: Offence?
    scan: while result >= 0, let finding = watch.scan(bytes, from: &scanned, now: now) {
      switch finding {
      case .offence(let found, let offset):
        offence = found
        end = offset
        break scan
      case .request(let place): result = receiveHead(bytes, at: place, &passed)
      case .reset(let stream, let place):
        // What comes before it may close the stream.
        result = passBytes(of: bytes, before: place, &passed)
        guard result >= 0 else { break }
        let isOpen = nghttp2_session_get_stream_user_data(raw, Int32(bitPattern: stream)) != nil
        offence = watch.judgeReset(of: stream, isOpen: isOpen, now)
        if offence != nil {
          end = place
          break scan
        }
      case .otherBlock: repeated?.forget()
      }
    }
    if result >= 0 { result = pass(bytes[passed..<end]) }
    if let offence = nextOffence() { return offence }
    if result < 0 { return Self.offence(Int32(result)) }
    if let offence { return offence }
    return hasTooManyUnsent ? Offence(abuse: .unreadAnswers, code: .enhanceYourCalm) : nil
  }

  private static func offence(_ result: Int32) -> Offence {
    switch result {
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: Offence(abuse: .notHTTP2, code: .protocolError)
    case NGHTTP2_ERR_FLOODED.rawValue: Offence(abuse: .unreadAnswers, code: .enhanceYourCalm)
    default: Offence(abuse: .protocolViolation, code: .protocolError)
    }
  }

  /// Receives the frame with the whole head of a request. If it repeats another one, or ends with a `traceparent` that
  /// streams want, the bytes from `passed` up to its end are passed to nghttp2, with less in the frame's place. Otherwise
  /// none are. Returns a negative error, if there is one.
  private func receiveHead(_ bytes: UnsafeRawBufferPointer, at place: Range<Int>, _ passed: inout Int) -> Int
  {
    let frame = UnsafeRawBufferPointer(rebasing: bytes[place])
    guard frame.count - FloodGuard.headSize <= frameLimit else {
      // nghttp2 refuses it.
      repeated?.forget()
      return 0
    }
    let repeated = repeated
    if let repeated, repeated.isWaiting {
      let result = passBytes(of: bytes, before: place.lowerBound, &passed)
      guard result >= 0 else { return result }
      repeated.stopWaiting()
    }
    var identity = takesTraceParents ? LateTraceParent.identity(atEndOf: frame) : nil
    let end = frame.count - (identity == nil ? 0 : LateTraceParent.byteCount)
    let block = UnsafeRawBufferPointer(rebasing: frame[FloodGuard.headSize..<end])
    let known = repeated?.index(of: block)
    if known == nil, !note(block, of: frame), identity != nil {
      // It was a part of a string.
      identity = nil
      _ = note(UnsafeRawBufferPointer(rebasing: frame[FloodGuard.headSize...]), of: frame)
    }
    guard known != nil || identity != nil else { return 0 }
    let result = passBytes(of: bytes, before: place.lowerBound, &passed)
    guard result >= 0 else { return result }
    passed = place.upperBound
    lateTraceParent = identity
    defer { lateTraceParent = nil }
    guard let known, let repeated else { return passShortened(frame[..<end]) }
    isStandingIn = true
    defer { isStandingIn = false }
    return repeated.standIn(known, for: frame) { pass($0[...]) }
  }

  private func passBytes(of bytes: UnsafeRawBufferPointer, before end: Int, _ passed: inout Int) -> Int {
    defer { passed = end }
    return pass(bytes[passed..<end])
  }

  /// Notes a block that is not known. Returns `false` if no field ends where it does.
  private func note(_ block: UnsafeRawBufferPointer, of frame: UnsafeRawBufferPointer) -> Bool {
    var fields = EncodedFields(block)
    let isWhole = fields.skipAll()
    if fields.mayChangeTable {
      repeated?.forget()
    } else {
      let repeated = repeated ?? RepeatedHeads()
      self.repeated = repeated
      let id = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7fff_ffff
      repeated.note(block, of: Int32(id))
    }
    return isWhole
  }

  /// Passes a frame with the length that it has without its end.
  private func passShortened(_ frame: Slice<UnsafeRawBufferPointer>) -> Int {
    withUnsafeTemporaryAllocation(byteCount: FloodGuard.headSize, alignment: 1) { head in
      head.copyBytes(from: frame[..<FloodGuard.headSize])
      let length = frame.count - FloodGuard.headSize
      for index in 0..<3 { head[index] = UInt8(truncatingIfNeeded: length >> (16 - 8 * index)) }
      let result = pass(UnsafeRawBufferPointer(head)[...])
      return result < 0 ? result : pass(frame[FloodGuard.headSize...])
    }
  }

  private func pass(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    guard !bytes.isEmpty else { return 0 }
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return nghttp2_session_mem_recv(raw, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
  }
}

// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall

/// Receiving: `FloodGuard` sees each frame before nghttp2 does.
extension Session {
  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offense? {
    var passed = 0
    var scanned = 0
    var end = bytes.count
    var result = 0
    var offense: Offense?
    scan: while result >= 0, let finding = watch.scan(bytes, from: &scanned, now: now) {
      switch finding {
      case .offense(let found, let offset):
        offense = found
        end = offset
        break scan
      case .request(let place): result = receiveHead(bytes, at: place, &passed)
      case .reset(let stream, let place):
        // What comes before it may close the stream.
        result = passBytes(of: bytes, before: place, &passed)
        guard result >= 0 else { break }
        let isOpen = nghttp2_session_get_stream_user_data(raw, Int32(bitPattern: stream)) != nil
        offense = watch.judgeReset(of: stream, isOpen: isOpen, now)
        if offense != nil {
          end = place
          break scan
        }
      case .otherBlock: shortcuts?.forgetHeads()
      case .goAway: shortcuts?.shortensHeads = false
      }
    }
    if result >= 0 { result = pass(bytes[passed..<end]) }
    if let offense = nextOffense() { return offense }
    if result < 0 { return Self.offense(Int32(result)) }
    if let offense { return offense }
    return hasTooManyUnsent ? Offense(abuse: .unreadAnswers, code: .enhanceYourCalm) : nil
  }

  private static func offense(_ result: Int32) -> Offense {
    switch result {
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: Offense(abuse: .notHTTP2, code: .protocolError)
    case NGHTTP2_ERR_FLOODED.rawValue: Offense(abuse: .unreadAnswers, code: .enhanceYourCalm)
    default: Offense(abuse: .protocolViolation, code: .protocolError)
    }
  }

  /// Receives the frame with the whole head of a request. If there is a shortcut for it, the bytes from `passed` up to its
  /// end are passed to nghttp2, with less in the frame's place. Otherwise none are. Returns a negative error, if there is
  /// one.
  private func receiveHead(_ bytes: UnsafeRawBufferPointer, at place: Range<Int>, _ passed: inout Int) -> Int
  {
    guard let shortcuts, shortcuts.shortensHeads else { return 0 }
    if shortcuts.awaitsHead {
      let result = passBytes(of: bytes, before: place.lowerBound, &passed)
      guard result >= 0 else { return result }
      shortcuts.stopAwaitingHead()
    }
    let frame = UnsafeRawBufferPointer(rebasing: bytes[place])
    guard let short = shortcuts.shorten(frame, limit: frameLimit) else { return 0 }
    let result = passBytes(of: bytes, before: place.lowerBound, &passed)
    guard result >= 0 else { return result }
    passed = place.upperBound
    return shortcuts.pass(short, of: frame) { pass($0[...]) }
  }

  private func passBytes(of bytes: UnsafeRawBufferPointer, before end: Int, _ passed: inout Int) -> Int {
    defer { passed = end }
    return pass(bytes[passed..<end])
  }

  private func pass(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    guard !bytes.isEmpty else { return 0 }
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return nghttp2_session_mem_recv(raw, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
  }
}

// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall

/// The functions that nghttp2 calls. None of them calls back into `receive` or `drain`.
enum SessionCallbacks {
  /// nghttp2 copies the table into each session. It is made once and only read afterwards.
  final class Table: @unchecked Sendable {
    let raw: OpaquePointer?

    init() {
      var callbacks: OpaquePointer?
      nghttp2_session_callbacks_new(&callbacks)
      raw = callbacks
      guard let callbacks else { return }
      nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, beginHeaders)
      nghttp2_session_callbacks_set_on_header_callback(callbacks, header)
      nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, frame)
      nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, data)
      nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, close)
      nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, frameSent)
      nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, frameNotSent)
      nghttp2_session_callbacks_set_send_data_callback(callbacks, sendBorrowed)
      nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, readLength)
    }
  }

  static let table = Table()

  // The session is executing the callback, and its list holds the stream. Neither can be released meanwhile, so neither
  // is retained here.

  private static func with<Result>(
    session userData: UnsafeMutableRawPointer?,
    else fallback: Result,
    _ body: (Session) -> Result
  ) -> Result {
    guard let userData else { return fallback }
    return Unmanaged<Session>.fromOpaque(userData)._withUnsafeGuaranteedRef(body)
  }

  private static func with(stream id: Int32, of raw: OpaquePointer?, _ body: (any SessionStream) -> Void) {
    guard let data = nghttp2_session_get_stream_user_data(raw, id) else { return }
    Unmanaged<StreamEntry>.fromOpaque(data).withStream(body)
  }

  private static func head(_ frame: UnsafePointer<nghttp2_frame>) -> nghttp2_frame_hd {
    // Every member of the union begins with the frame header.
    UnsafeRawPointer(frame).assumingMemoryBound(to: nghttp2_frame_hd.self).pointee
  }

  private static let endStream = UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)

  // MARK: Receiving

  private static let beginHeaders: nghttp2_on_begin_headers_callback = { _, frame, userData in
    guard let frame else { return 0 }
    let id = head(frame).stream_id
    return with(session: userData, else: 0) { session in
      session.headersBegin()
      if frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST { return session.openStream(id) }
      session.current = session.stream(id)
      return 0
    }
  }

  private static let header: nghttp2_on_header_callback = {
    _,
    _,
    name,
    nameCount,
    value,
    valueCount,
    _,
    userData in
    with(session: userData, else: 0) { session in
      guard session.shortcuts?.hidesFields != true else { return 0 }
      guard session.countHeader(nameCount + valueCount) else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
      session.current?.withStream { stream in
        stream.receiveHeader(
          UnsafeBufferPointer(start: name, count: nameCount),
          UnsafeBufferPointer(start: value, count: valueCount),
          session.fields
        )
      }
      return 0
    }
  }

  private static let data: nghttp2_on_data_chunk_recv_callback = { raw, _, id, bytes, count, _ in
    with(stream: id, of: raw) { $0.receiveData(UnsafeRawBufferPointer(start: bytes, count: count)) }
    return 0
  }

  private static let frame: nghttp2_on_frame_recv_callback = { raw, frame, userData in
    guard let frame else { return 0 }
    let head = head(frame)
    let endsStream = head.flags & endStream != 0
    if UInt32(head.type) == NGHTTP2_DATA.rawValue {
      if endsStream { with(stream: head.stream_id, of: raw) { $0.remoteDidEnd() } }
      return 0
    }
    return with(session: userData, else: 0) { session in
      guard UInt32(head.type) == NGHTTP2_HEADERS.rawValue else { return session.controlFrame(head, frame) }
      session.current.take()?.withStream { stream in
        stream.headersDidEnd(endsStream: endsStream, session.fields)
        let isRequest = frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
        if isRequest { session.shortcuts?.headDidEnd(of: stream, in: session) }
      }
      return 0
    }
  }

  private static let close: nghttp2_on_stream_close_callback = { raw, id, code, userData in
    // nghttp2 forgets the stream after this call, so its user data need not be cleared.
    guard let data = nghttp2_session_get_stream_user_data(raw, id) else { return 0 }
    return with(session: userData, else: 0) { session in
      // The current stream may also be another one, whose headers have arrived in part.
      if session.current?.toOpaque() == data { session.current = nil }
      session.streams.end(data, code)
      session.endIfDrained()
      return 0
    }
  }

  // MARK: Sending

  private static let frameSent: nghttp2_on_frame_send_callback = { raw, frame, userData in
    guard let frame else { return 0 }
    let head = head(frame)
    guard UInt32(head.type) == NGHTTP2_DATA.rawValue || UInt32(head.type) == NGHTTP2_HEADERS.rawValue else {
      return with(session: userData, else: 0) { $0.controlFrameSent(head, frame) }
    }
    with(session: userData, else: ()) { session in
      session.watch.earn(forSending: head.length)
      if UInt32(head.type) == NGHTTP2_HEADERS.rawValue, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
        session.requestWasSent(head.stream_id)
      }
    }
    if head.flags & endStream != 0 { with(stream: head.stream_id, of: raw) { $0.localDidEnd() } }
    return 0
  }

  /// Called for headers that nghttp2 refuses to send. It closes the stream of a request, but leaves that of a response
  /// open.
  private static let frameNotSent: nghttp2_on_frame_not_send_callback = { raw, frame, error, _ in
    guard let frame else { return 0 }
    let head = head(frame)
    guard UInt32(head.type) == NGHTTP2_HEADERS.rawValue,
      error == NGHTTP2_ERR_FRAME_SIZE_ERROR.rawValue || error == NGHTTP2_ERR_HEADER_COMP.rawValue
    else { return 0 }
    with(stream: head.stream_id, of: raw) { $0.headersWereRefused(.headersNotSent) }
    if frame.pointee.headers.cat != NGHTTP2_HCAT_REQUEST {
      nghttp2_submit_rst_stream(raw, 0, head.stream_id, HTTP2Error.internalError.rawValue)
    }
    return 0
  }

  static let readBody: nghttp2_data_source_read_callback = {
    raw,
    id,
    buffer,
    count,
    flags,
    source,
    userData in
    let failed = Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
    guard let data = source?.pointee.ptr, let flags else { return failed }
    let target = UnsafeMutableRawBufferPointer(start: buffer, count: count)
    return with(session: userData, else: failed) { session in
      Unmanaged<StreamEntry>.fromOpaque(data).withStream { stream in
        session.take(stream.readBody(into: target), of: stream, &flags.pointee)
      }
    }
  }

  private static let sendBorrowed: nghttp2_send_data_callback = {
    _,
    _,
    frameHeader,
    count,
    source,
    userData in
    guard let data = source?.pointee.ptr else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    return with(session: userData, else: NGHTTP2_ERR_CALLBACK_FAILURE.rawValue) { session in
      Unmanaged<StreamEntry>.fromOpaque(data).withStream { stream in
        session.sendBorrowed(of: stream, count, UnsafeRawBufferPointer(start: frameHeader, count: 9))
      }
    }
  }

  /// Frames are as large as the peer accepts, up to this side's own limit, so that large messages take fewer of them.
  private static let readLength: nghttp2_data_source_read_length_callback = {
    _,
    _,
    _,
    connectionWindow,
    streamWindow,
    maxFrameSize,
    userData in
    let limit = with(session: userData, else: 16384) { $0.frameLimit }
    return max(1, min(Int(connectionWindow), Int(streamWindow), Int(maxFrameSize), limit))
  }
}

extension Session {
  /// Opens a stream for a request whose head begins.
  fileprivate func openStream(_ id: Int32) -> Int32 {
    guard let address = link?.with({ $0.sessionDidOpenStream(id).map { streams.insert($0) } }) ?? nil else {
      current = nil
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    let stream = Unmanaged<StreamEntry>.fromOpaque(address)
    current = stream
    stream._withUnsafeGuaranteedRef { $0.id = id }
    nghttp2_session_set_stream_user_data(raw, id, address)
    shortcuts?.headDidBegin(of: stream, in: self)
    return 0
  }

  fileprivate func controlFrame(_ head: nghttp2_frame_hd, _ frame: UnsafePointer<nghttp2_frame>) -> Int32 {
    switch UInt32(head.type) {
    case NGHTTP2_SETTINGS.rawValue:
      noteRemoteSettings()
      delegate?.sessionDidReceiveSettings()
    case NGHTTP2_GOAWAY.rawValue:
      let goAway = frame.pointee.goaway
      end.wasReceived(goAway.error_code)
      let reason = UnsafeBufferPointer(start: goAway.opaque_data, count: goAway.opaque_data_len)
      delegate?.sessionDidReceiveGoAway(
        GoAway(
          lastStream: goAway.last_stream_id,
          code: goAway.error_code,
          reason: PeerText.harmless(reason.prefix(256))
        )
      )
    case NGHTTP2_PING.rawValue:
      let payload = withUnsafeBytes(of: frame.pointee.ping.opaque_data) { $0.loadUnaligned(as: UInt64.self) }
      let isAck = head.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
      if isAck { pingWasAnswered(UInt64(bigEndian: payload)) } else { delegate?.sessionDidReceivePing() }
    default:
      break
    }
    return 0
  }

  /// Notes errors that blame the peer.
  fileprivate func controlFrameSent(_ head: nghttp2_frame_hd, _ frame: UnsafePointer<nghttp2_frame>) -> Int32
  {
    switch UInt32(head.type) {
    case NGHTTP2_RST_STREAM.rawValue:
      let code = frame.pointee.rst_stream.error_code
      if HTTP2Error.blamesPeer(code) { didBlame(code) }
    case NGHTTP2_GOAWAY.rawValue:
      let code = frame.pointee.goaway.error_code
      if end.wasSent(code) { ping(PingPayload.draining) }
      if HTTP2Error.blamesPeer(code) { delegate?.sessionDidBlamePeer() }
    default:
      break
    }
    return 0
  }

  fileprivate func sendBorrowed(
    of stream: any SessionStream,
    _ count: Int,
    _ frameHeader: UnsafeRawBufferPointer
  ) -> Int32 {
    guard let (output, limit) = output else { return NGHTTP2_ERR_CALLBACK_FAILURE.rawValue }
    guard output.byteCount < limit else { return NGHTTP2_ERR_WOULDBLOCK.rawValue }
    guard let (message, bytes) = stream.takeBorrowed(count) else {
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
    }
    output.append(frameHeader)
    output.append(message, bytes)
    return 0
  }

  /// Tells nghttp2 what kind of piece of its body a stream has.
  fileprivate func take(_ piece: BodyRead, of stream: any SessionStream, _ flags: inout UInt32) -> Int {
    switch piece {
    case .copied(let count):
      return count
    case .borrowed(let count, let isLast):
      flags |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue
      if isLast {
        flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
        endBody(of: stream, isCopied: false, &flags)
      }
      return count
    case .wait:
      return Int(NGHTTP2_ERR_DEFERRED.rawValue)
    case .last(let count):
      flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
      endBody(of: stream, isCopied: true, &flags)
      return count
    }
  }

  private func endBody(of stream: any SessionStream, isCopied: Bool, _ flags: inout UInt32) {
    switch stream.trailers(into: headers) {
    case .none: return
    case .success:
      if shortcuts?.endsWithKnownTrailers(stream.id, isBodyCopied: isCopied) == true { return }
      submitTrailers(stream.id, constant: .success)
    case .written: submitTrailers(stream.id)
    }
    flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
  }
}

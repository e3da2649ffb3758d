import CNghttp2
import SwitchboardCall

/// What a connection learns from its session. Only notes are to be taken: see `SessionStream`.
protocol SessionDelegate: AnyObject {
  /// A peer opens a stream. `nil` refuses it.
  func sessionDidOpenStream(_ id: Int32) -> SessionStream?
  func sessionDidReceiveGoAway(_ goAway: GoAway)
  func sessionDidReceiveSettings()
  func sessionDidReceivePing(isAck: Bool, payload: UInt64)
  /// We end a stream or the connection for a rule that the peer has broken.
  func sessionDidBlamePeer()
  /// The time, in nanoseconds.
  var sessionNow: UInt64 { get }
}

/// What a peer says when it ends a connection.
struct GoAway {
  let lastStream: Int32
  let code: UInt32
  /// In the peer's words; often empty.
  let reason: String
}

/// One side of an HTTP/2 connection: owns an nghttp2 session. Bytes in, bytes out, no I/O.
final class Session {
  // Unchecked exclusivity: confined to the connection's loop; callbacks write `current` and `output` only
  // while nghttp2, not this class, is being executed.
  let raw: OpaquePointer
  /// What nghttp2 keeps its memory in.
  private let memory: BlockPool
  /// The connection, which owns this session and so outlives it. Not weak: that would make every retain of
  /// the connection a slow one.
  @exclusivity(unchecked) unowned(unsafe) var delegate: (any SessionDelegate)?
  /// The stream whose headers are being received. In `streams`, which retains it: this does not.
  @exclusivity(unchecked) var current: Unmanaged<SessionStream>?
  /// Where `drain` writes to, while it runs.
  @exclusivity(unchecked) var output: OutputBuffer?
  @exclusivity(unchecked) var streams = StreamList()
  @exclusivity(unchecked) private var watch: FloodGuard
  /// The size of the block of headers that is being received, as HTTP/2 counts it.
  @exclusivity(unchecked) private var headerListSize = 0
  @exclusivity(unchecked) private var headersCharged = 0
  private let headerListSizeFree: Int
  private let headerListSizeLimit: Int
  /// What a callback found, for `receive` and `drain` to tell.
  @exclusivity(unchecked) private(set) var offence: Offence?
  let headers = HeaderWriter()
  /// Where streams keep the fields of the block that is being received.
  let fields = FieldCollector()
  /// The last of our requests whose headers were handed to the connection.
  @exclusivity(unchecked) var lastRequestSent: Int32 = 0
  @exclusivity(unchecked) private var connectionWindow: Int
  /// The error that this side ended the connection for, once it has said so.
  @exclusivity(unchecked) var errorSent: UInt32?
  /// The error of the peer's GOAWAY, once there was one.
  @exclusivity(unchecked) var goAwayReceived: UInt32?
  let frameLimit: Int
  /// How large a block of headers may be that this side sends, as HTTP/2 counts it: as the peer says, and as nghttp2 sends.
  @exclusivity(unchecked) private(set) var headerListLimit = SessionSettings.largestSentHeaders

  enum Role { case client, server }

  /// `nil` when there is no memory for it.
  init?(_ role: Role, settings: SessionSettings, memory: BlockPool) {
    self.memory = memory
    frameLimit = settings.maxFrameSize
    watch = FloodGuard(of: role, allowance: settings.controlFrameAllowance)
    headerListSizeFree = settings.maxHeaderListSize
    headerListSizeLimit = max(Self.leastHeaderBomb, 4 * settings.maxHeaderListSize)
    connectionWindow = settings.connectionWindow
    guard let raw = SessionFactory.make(role, settings, memory) else { return nil }
    self.raw = raw
    nghttp2_session_set_user_data(raw, Unmanaged.passUnretained(self).toOpaque())
    guard submit(settings) else { return nil }
  }

  deinit { nghttp2_session_del(raw) }

  private func submit(_ settings: SessionSettings) -> Bool {
    let entries = settings.entries
    guard nghttp2_submit_settings(raw, 0, entries, entries.count) == 0 else { return false }
    return nghttp2_session_set_local_window_size(raw, 0, 0, Int32(clamping: settings.connectionWindow)) == 0
  }

  /// What the peer did for which the connection must end, and the code to say so with.
  struct Offence {
    let abuse: PeerAbuse
    let code: HTTP2Error
  }

  /// Takes what came from the peer. What is returned, if anything, leaves nothing but to `terminate`.
  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offence? {
    var allowed = bytes
    let found = watch.scan(bytes, now: now)
    if let found { allowed = UnsafeRawBufferPointer(rebasing: bytes[..<found.offset]) }
    let base = allowed.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = nghttp2_session_mem_recv(raw, base, allowed.count)
    if let offence = takeOffence() { return offence }
    if result < 0 { return Self.offence(Int32(result)) }
    return found?.offence
  }

  private static func offence(_ result: Int32) -> Offence {
    switch result {
    case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: Offence(abuse: .notHTTP2, code: .protocolError)
    case NGHTTP2_ERR_FLOODED.rawValue: Offence(abuse: .unreadAnswers, code: .enhanceYourCalm)
    default: Offence(abuse: .protocolViolation, code: .protocolError)
    }
  }

  /// Headers were begun, and their end has not come yet.
  var isInsideHeaders: Bool { watch.isInsideHeaders }

  /// How many frames wait to be sent, other than those with data.
  var unsentFrames: Int { nghttp2_session_get_outbound_queue_size(raw) }

  private static let leastHeaderBomb = 256 * 1024

  /// What lies above the limit has to be decoded all the same, and is paid for: so many bytes cost as much as a frame that
  /// does nothing for a call.
  private static let headerBytesPerCharge = 1024

  func headersBegin() {
    headerListSize = 0
    headersCharged = 0
    fields.begin()
  }

  /// `false` when the headers have grown so large that no more of them is looked at.
  func countHeader(_ byteCount: Int) -> Bool {
    headerListSize += byteCount + 32
    guard headerListSize > headerListSizeFree else { return true }
    guard headerListSize <= headerListSizeLimit, payForHeaders() else {
      offence = Offence(abuse: .headerBomb, code: .enhanceYourCalm)
      return false
    }
    return true
  }

  private func payForHeaders() -> Bool {
    let due = (headerListSize - headerListSizeFree) / Self.headerBytesPerCharge
    while headersCharged < due {
      headersCharged += 1
      guard watch.spend(now: delegate?.sessionNow ?? 0) else { return false }
    }
    return true
  }

  /// So many records of TLS came that brought nothing. `false` when the peer has sent more than it has earned.
  func pay(forRecords count: Int) -> Bool { watch.spend(count, now: delegate?.sessionNow ?? 0) }

  func takeOffence() -> Offence? {
    defer { offence = nil }
    return offence
  }

  /// A frame for a call went out, which may well cause some from the peer.
  func sentForCall(_ byteCount: Int) { watch.earn(4 + byteCount >> 8) }

  /// We reset a stream for what the peer did.
  func didBlame(_ code: UInt32) {
    delegate?.sessionDidBlamePeer()
    if !watch.spend(now: delegate?.sessionNow ?? 0) {
      offence = Offence(abuse: .rapidReset, code: .enhanceYourCalm)
    }
  }

  enum Drained { case all, some, failed }

  /// Writes what there is to send, up to about `limit` bytes.
  func drain(into target: OutputBuffer, limit: Int) -> Drained {
    output = target
    outputLimit = limit
    defer { output = nil }
    while target.byteCount < limit {
      var chunk: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(raw, &chunk)
      if count < 0 { return .failed }
      if count == 0 { return target.byteCount < limit ? .all : .some }
      target.append(UnsafeRawBufferPointer(start: chunk, count: count))
    }
    return .some
  }

  @exclusivity(unchecked) private(set) var outputLimit = 0

  var wantsToRead: Bool { nghttp2_session_want_read(raw) != 0 }
  var wantsToWrite: Bool { nghttp2_session_want_write(raw) != 0 }

  /// The peer has said how large headers may be.
  func noteHeaderListLimit() {
    let limit = nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE)
    headerListLimit = min(Int(limit), SessionSettings.largestSentHeaders)
  }

  /// Why what is in `headers` cannot be sent, if it cannot.
  var refusalOfHeaders: GRPCStatus? {
    headers.listSize > headerListLimit ? .headersTooLargeToSend(headers, limit: headerListLimit) : nil
  }

  /// Ends every open stream, when the connection is gone.
  func abandonStreams(_ code: HTTP2Error) {
    while let stream = streams.removeAny() {
      nghttp2_session_set_stream_user_data(raw, stream.id, nil)
      stream.didClose(code.rawValue)
    }
  }

  func stream(_ id: Int32) -> SessionStream? {
    guard let data = nghttp2_session_get_stream_user_data(raw, id) else { return nil }
    return Unmanaged<SessionStream>.fromOpaque(data).takeUnretainedValue()
  }
}

// MARK: - Sending

extension Session {
  /// The provider asks `stream` for the body.
  private func provider(for stream: SessionStream) -> nghttp2_data_provider {
    nghttp2_data_provider(
      source: nghttp2_data_source(ptr: Unmanaged.passUnretained(stream).toOpaque()),
      read_callback: SessionCallbacks.readBody
    )
  }

  /// Opens a stream with what is in `headers`. `nil` when there are no stream numbers left.
  func submitRequest(_ stream: SessionStream) -> Bool {
    var provider = provider(for: stream)
    let data = streams.insert(stream)
    let id = headers.withEntries { nghttp2_submit_request(raw, nil, $0, $1, &provider, data) }
    guard id > 0 else {
      _ = streams.remove(data)
      return false
    }
    stream.id = id
    return true
  }

  /// Sends what is in `headers`, then the body, then the trailers.
  func submitResponse(_ stream: SessionStream) {
    var provider = provider(for: stream)
    _ = headers.withEntries { nghttp2_submit_response(raw, stream.id, $0, $1, &provider) }
  }

  /// The same with headers that are made once.
  func submitResponse(_ stream: SessionStream, constant: ConstantHeaders) {
    var provider = provider(for: stream)
    nghttp2_submit_response(raw, stream.id, constant.entries, constant.count, &provider)
  }

  /// Sends what is in `headers` as all there is.
  func submitTrailersOnly(_ stream: SessionStream) {
    _ = headers.withEntries { nghttp2_submit_response(raw, stream.id, $0, $1, nil) }
  }

  func submitTrailers(_ id: Int32) {
    _ = headers.withEntries { nghttp2_submit_trailer(raw, id, $0, $1) }
  }

  func submitTrailers(_ id: Int32, constant: ConstantHeaders) {
    nghttp2_submit_trailer(raw, id, constant.entries, constant.count)
  }

  /// Lets the peer send more before it must wait: on every stream, and on all together.
  func growWindows(to window: Int) {
    var entry = nghttp2_settings_entry(
      settings_id: Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue),
      value: UInt32(clamping: window)
    )
    nghttp2_submit_settings(raw, 0, &entry, 1)
    guard window > connectionWindow else { return }
    connectionWindow = window
    nghttp2_session_set_local_window_size(raw, 0, 0, Int32(clamping: window))
  }

  func resume(_ id: Int32) {
    nghttp2_session_resume_data(raw, id)
  }

  func reset(_ id: Int32, _ code: HTTP2Error) {
    nghttp2_submit_rst_stream(raw, 0, id, code.rawValue)
  }

  func goAway(_ code: HTTP2Error, lastStream: Int32? = nil) {
    nghttp2_submit_goaway(
      raw,
      0,
      lastStream ?? nghttp2_session_get_last_proc_stream_id(raw),
      code.rawValue,
      nil,
      0
    )
  }

  /// Says that no new stream should be opened, while those already on their way are still taken.
  func announceGoAway() {
    nghttp2_submit_shutdown_notice(raw)
  }

  /// Sends GOAWAY and nothing after it.
  func terminate(_ code: HTTP2Error, _ reason: StaticString? = nil) {
    guard let reason else {
      nghttp2_session_terminate_session(raw, code.rawValue)
      return
    }
    nghttp2_submit_goaway(
      raw,
      0,
      nghttp2_session_get_last_proc_stream_id(raw),
      code.rawValue,
      reason.utf8Start,
      reason.utf8CodeUnitCount
    )
    nghttp2_session_terminate_session(raw, code.rawValue)
  }

  func ping(_ payload: UInt64) {
    withUnsafeBytes(of: payload.bigEndian) { bytes in
      _ = nghttp2_submit_ping(raw, 0, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    }
  }

  /// Bytes of the body were taken: the peer may send as many more.
  func consume(_ id: Int32, _ count: Int) {
    nghttp2_session_consume(raw, id, count)
  }

  /// The same for the connection alone: this stream's window stays closed, the others go on.
  func consumeConnection(_ count: Int) {
    nghttp2_session_consume_connection(raw, count)
  }

  func consumeStream(_ id: Int32, _ count: Int) {
    nghttp2_session_consume_stream(raw, id, count)
  }

  /// How much this side may send on the connection for now.
  var sendWindow: Int { Int(nghttp2_session_get_remote_window_size(raw)) }

  /// How much the peer may send for now.
  var receiveWindow: Int { Int(nghttp2_session_get_local_window_size(raw)) }

  var remoteMaxConcurrentStreams: Int {
    Int(nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }
}

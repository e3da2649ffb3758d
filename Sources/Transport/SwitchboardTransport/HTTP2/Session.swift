// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall
import SwitchboardNetwork

/// One side of an HTTP/2 connection: owns an nghttp2 session. It transforms bytes and performs no I/O.
final class Session: HTTPServerSession, HTTPClientSession {
  // Unchecked exclusivity: confined to the connection's loop. Callbacks write `current` and `output` only while nghttp2
  // is running, and not this class.
  /// What nghttp2 allocates in large blocks.
  @exclusivity(unchecked) var memory: PackableMemory
  private let handle: SessionHandle
  /// The connection, which owns this session and so outlives it.
  @exclusivity(unchecked) private(set) var link: DelegateLink?
  var delegate: (any SessionDelegate)? {
    get { link?.with { (delegate: any SessionDelegate) in delegate } }
    set { link = newValue.map { DelegateLink($0) } }
  }
  /// The stream whose headers are being received. It is retained by `streams`.
  @exclusivity(unchecked) var current: Unmanaged<StreamEntry>?
  /// The output of `drain` and its limit, while it runs.
  @exclusivity(unchecked) private(set) var output: (buffer: OutputBuffer, limit: Int)?
  let streams: StreamList
  @exclusivity(unchecked) var watch: FloodGuard
  /// What spares nghttp2 some of what is received and sent, if anything does.
  let shortcuts: Shortcuts?
  @exclusivity(unchecked) private var block: HeaderBlockSize
  /// An offense that a callback found; `receive` and `drain` return it.
  @exclusivity(unchecked) private(set) var offense: Offense?
  let headers: HeaderWriter
  /// The fields that streams keep of the header block that is being received.
  let fields: FieldCollector
  /// The last request whose headers were passed to the connection.
  @exclusivity(unchecked) private(set) var lastRequestSent: Int32 = 0
  @exclusivity(unchecked) var connectionWindow: Int
  @exclusivity(unchecked) var inbound: InboundAccount
  /// The most that the peer may send on a stream before it is read, if that is less than usual.
  @exclusivity(unchecked) var streamLimit: Int?
  @exclusivity(unchecked) var end = SessionEnd()
  let frameLimit: Int
  private let unsentFrameLimit: Int
  @exclusivity(unchecked) private(set) var peerLimits = PeerLimits.unknown

  enum Role { case client, server }

  /// `parts` are those of the connection. Returns `nil` if there is not enough memory.
  init?(_ role: Role, settings: SessionSettings, memory: BlockPool, _ parts: SessionParts = SessionParts()) {
    let packable = PackableMemory(in: memory.arenas)
    let handle = SessionHandle(in: memory, packable.arena) { SessionFactory.make(role, settings, $0) }
    guard let handle else {
      packable.end()
      return nil
    }
    self.memory = packable
    self.handle = handle
    (headers, fields, streams) = (parts.headers, parts.fields, parts.streams)
    frameLimit = settings.maxFrameSize
    unsentFrameLimit = settings.unsentFrameLimit
    watch = FloodGuard(of: role, allowance: settings.controlFrameAllowance)
    shortcuts = settings.takesShortcuts ? Shortcuts() : nil
    headers.mayAnnounce = settings.takesShortcuts
    block = HeaderBlockSize(free: settings.maxHeaderListSize)
    connectionWindow = settings.connectionWindow
    inbound = InboundAccount(
      limit: settings.unreadLimit,
      link: LinkEstimator(window: settings.streamWindow, limit: settings.windowLimit)
    )
    nghttp2_session_set_user_data(raw, Unmanaged.passUnretained(self).toOpaque())
    noteRemoteSettings()
    guard submit(settings) else { return nil }
  }

  deinit {
    memory.wake()
    handle.end()
    memory.end()
  }

  /// nghttp2's session, for one call into it. This is the only way to it, because it may have to be unpacked.
  var raw: OpaquePointer {
    @inline(__always) get {
      if !memory.isAwake { wake() }
      return handle.session
    }
  }

  func memoryWasPacked() { shortcuts?.freeHeads() }

  private func submit(_ settings: SessionSettings) -> Bool {
    let entries = settings.entries
    guard nghttp2_submit_settings(raw, 0, entries, entries.count) == 0 else { return false }
    return nghttp2_session_set_local_window_size(raw, 0, 0, Int32(clamping: settings.connectionWindow)) == 0
  }

  var incompleteHeaders: Int { watch.incompleteHeaders }

  var version: StaticString { "HTTP/2" }

  /// Whether more frames wait to be sent, except those with data, than a peer that reads needs.
  var hasTooManyUnsent: Bool {
    nghttp2_session_get_outbound_queue_size(raw) > unsentFrameLimit && delegate?.outputWaits == true
  }

  func headersBegin() {
    block.begin()
    fields.begin()
  }

  /// Returns `false` if the headers are so large that the rest of them is ignored.
  func countHeader(_ byteCount: Int) -> Bool {
    if block.add(byteCount + 32) { return true }
    guard !block.isTooLarge, payForHeaders() else {
      offense = Offense(abuse: .headerBomb, code: .enhanceYourCalm)
      return false
    }
    return true
  }

  /// Whether nothing is charged for headers like those that were received last, with any `traceparent`.
  var areHeadersFree: Bool { block.isFree(with: SpanIdentity.listSize) }

  private func payForHeaders() -> Bool {
    while block.takeCharge() {
      guard watch.spend(now: delegate?.sessionNow ?? 0) else { return false }
    }
    return true
  }

  func nextOffense() -> Offense? {
    defer { offense = nil }
    return offense
  }

  /// Called when a request's headers were passed to the connection. Not inlined, so that what each sent frame runs stays
  /// small enough to be.
  @inline(never)
  func requestWasSent(_ id: Int32) {
    lastRequestSent = id
    watch.expectHeaders(openCalls: streams.count)
  }

  /// Called when this side has reset a stream because the peer broke a rule.
  func didBlame(_ code: UInt32) {
    delegate?.sessionDidBlamePeer()
    if !watch.spend(now: delegate?.sessionNow ?? 0) {
      offense = Offense(abuse: .rapidReset, code: .enhanceYourCalm)
    }
  }

  func drain(into target: OutputBuffer, limit: Int) -> Drained {
    let drained = sendFrames(into: target, limit: limit)
    guard drained != .failed else { return drained }
    if let offense = nextOffense() { return .offense(offense) }
    guard !wantsToRead, !wantsToWrite else { return drained }
    return .over(end.errorSent.map(GRPCStatus.ended(for:)) ?? .connectionLost, onceWritten: true)
  }

  private func sendFrames(into target: OutputBuffer, limit: Int) -> Drained {
    output = (target, limit)
    defer { output = nil }
    let raw = raw
    // A frame may be in the buffer.
    memory.mayDropConsumed = false
    // The buffer for frames grows when it is first used.
    handle.useArenaForBuffers(true)
    defer { handle.useArenaForBuffers(false) }
    // Held for the loop: otherwise each frame would retain them.
    let (shortcuts, arena) = (shortcuts, memory.arena)
    while target.byteCount < limit {
      var chunk: UnsafePointer<UInt8>?
      let count = nghttp2_session_mem_send(raw, &chunk)
      if count < 0 { return .failed }
      if count == 0 {
        memory.mayDropConsumed = target.byteCount < limit
        return memory.mayDropConsumed ? .all : .some
      }
      let frame = UnsafeRawBufferPointer(start: chunk, count: count)
      if count >= Self.leastConsumed { arena?.noteConsumed(frame) }
      if let shortcuts { shortcuts.append(frame, to: target, in: self) } else { target.append(frame) }
    }
    return .some
  }

  /// Smaller frames are kept when the session is packed, which costs less than to note them.
  private static let leastConsumed = 1024

  var wantsToRead: Bool { nghttp2_session_want_read(raw) != 0 }
  var wantsToWrite: Bool { nghttp2_session_want_write(raw) != 0 }

  /// Called when the peer's settings were received.
  func noteRemoteSettings() {
    let raw = raw
    let limit = nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE)
    let streams = nghttp2_session_get_remote_settings(raw, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
    peerLimits = PeerLimits(headerList: Int(limit), streams: Int(streams))
    shortcuts?.settingsDidArrive()
  }

  var headerListLimit: Int { peerLimits.headerList }

  var refusalOfHeaders: GRPCStatus? {
    headers.listSize > headerListLimit ? .headersTooLargeToSend(headers, limit: headerListLimit) : nil
  }

  func checkSilence(
    _ keepalive: inout Keepalive,
    now: UInt64,
    lastRead: UInt64,
    isWriting: Bool
  ) -> Keepalive.Action {
    keepalive.check(now: now, lastRead: lastRead, isIdle: false)
  }

  /// Streams end on their own, so a peer that ends the connection is gone.
  func peerDidEnd() -> Bool { false }

  func connectionDidClose() {
    streams.endAll { nghttp2_session_set_stream_user_data(raw, $0.id, nil) }
  }

  /// The stream of that number, which the list retains.
  func stream(_ id: Int32) -> Unmanaged<StreamEntry>? {
    nghttp2_session_get_stream_user_data(raw, id).map { Unmanaged.fromOpaque($0) }
  }
}

// MARK: - Sending

extension Session {
  /// Returns a provider that asks `stream` for the body.
  private func provider(for stream: StreamEntry) -> nghttp2_data_provider {
    nghttp2_data_provider(
      source: nghttp2_data_source(ptr: Unmanaged.passUnretained(stream).toOpaque()),
      read_callback: SessionCallbacks.readBody
    )
  }

  /// Opens a stream with the headers in `headers`. Returns `false` if no stream numbers are left.
  func submitRequest<Stream: SessionStream>(_ stream: Stream, hasBody: Bool = true) -> Bool {
    var provider = provider(for: stream)
    shortcuts?.requestWasSubmitted(headers)
    let data = streams.insert(stream)
    let id = headers.withEntries { entries, count in
      hasBody
        ? nghttp2_submit_request(raw, nil, entries, count, &provider, data)
        : nghttp2_submit_request(raw, nil, entries, count, nil, data)
    }
    guard id > 0 else {
      _ = streams.remove(data)
      return false
    }
    stream.id = id
    return true
  }

  var requestLimit: Int { peerLimits.streams }

  static func connectionLimit(_ options: ChannelOptions) -> Int { options.maxConnections }

  func cancelRequest(_ id: Int32) -> GRPCStatus? {
    reset(id, .cancel)
    return nil
  }

  func finishRequests() -> GRPCStatus? {
    terminate(.noError)
    return nil
  }

  func submitResponse(_ stream: StreamEntry) {
    var provider = provider(for: stream)
    _ = headers.withEntries { nghttp2_submit_response(raw, stream.id, $0, $1, &provider) }
  }

  func submitResponse(_ stream: StreamEntry, constant: ConstantHeaders) {
    var provider = provider(for: stream)
    nghttp2_submit_response(raw, stream.id, constant.entries, constant.count, &provider)
  }

  func submitTrailersOnly(_ stream: StreamEntry) {
    _ = headers.withEntries { nghttp2_submit_response(raw, stream.id, $0, $1, nil) }
  }

  func submitTrailers(_ id: Int32) {
    _ = headers.withEntries { nghttp2_submit_trailer(raw, id, $0, $1) }
  }

  func submitTrailers(_ id: Int32, constant: ConstantHeaders) {
    nghttp2_submit_trailer(raw, id, constant.entries, constant.count)
  }

  func resume(_ id: Int32) {
    nghttp2_session_resume_data(raw, id)
  }

  func reset(_ id: Int32, _ code: HTTP2Error) {
    nghttp2_submit_rst_stream(raw, 0, id, code.rawValue)
  }

  func abandonResponse(_ id: Int32) { reset(id, .cancel) }

  func stopRequest(_ id: Int32) { reset(id, .noError) }

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

  func terminate(_ offense: Offense, _ reason: StaticString?) { terminate(offense.code, reason) }

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
}

import CLibuv
import SwitchboardCall

/// What a connection learns of its socket, on the loop.
protocol SocketDelegate: AnyObject {
  /// Bytes that are lent for the length of this call.
  func socketDidRead(_ bytes: UnsafeRawBufferPointer)
  /// The peer closed, or the connection broke. Told at most once.
  func socketDidEnd(_ error: SocketError?)
  /// What could not be written at once has been written.
  func socketDidDrain()
}

/// A connected stream socket, TCP or unix, on one loop.
final class Socket {
  // Unchecked exclusivity: confined to the loop, and no access is held across a call out.
  let loop: Loop
  @exclusivity(unchecked) private var stream: UnsafeMutablePointer<uv_stream_t>?
  /// Let go of by `close`. Not weak: that would make every retain of the delegate a slow one.
  @exclusivity(unchecked) var delegate: (any SocketDelegate)?
  @exclusivity(unchecked) private(set) var isWriting = false
  /// A write has failed: what was lost must not be followed by anything.
  @exclusivity(unchecked) private var takesNoMore = false
  /// Ends a gentle close that the peer does not.
  @exclusivity(unchecked) private var lingering: LoopTimer?
  @exclusivity(unchecked) private var hasEnded = false
  @exclusivity(unchecked) private(set) var isPaused = false
  @exclusivity(unchecked) private var share = ReadShare()
  @exclusivity(unchecked) private var pending: OutputBuffer?
  private let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)

  /// Takes over a libuv stream that is connected.
  init(loop: Loop, adopting stream: UnsafeMutablePointer<uv_stream_t>) {
    self.loop = loop
    self.stream = stream
    loop.openHandles += 1
    stream.pointee.data = Unmanaged.passRetained(self).toOpaque()
  }

  deinit { request.deallocate() }

  /// `nil` once it is closed.
  var descriptor: Int32? {
    guard let stream else { return nil }
    var found: uv_os_fd_t = -1
    let handle = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_handle_t.self)
    return uv_fileno(handle, &found) == 0 ? found : nil
  }

  static func of(_ data: UnsafeMutableRawPointer?) -> Socket? {
    data.map { Unmanaged<Socket>.fromOpaque($0).takeUnretainedValue() }
  }

  func startReading() {
    guard let stream else { return }
    uv_read_start(
      stream,
      { handle, _, buffer in
        guard let socket = Socket.of(handle?.pointee.data), let buffer else { return }
        buffer.pointee = socket.lendMemory()
      },
      { handle, count, buffer in
        guard let socket = Socket.of(handle?.pointee.data), let buffer else { return }
        // Where none was lent, this says only that there is more for the next turn.
        if buffer.pointee.len == 0, count == UV_ENOBUFS.rawValue { return }
        socket.didRead(count, buffer.pointee.base)
      }
    )
  }

  func stopReading() {
    if let stream { uv_read_stop(stream) }
  }

  /// Reads nothing until it is told to go on.
  func pauseReading() {
    guard !hasEnded, lingering == nil else { return }
    isPaused = true
    stopReading()
  }

  func resumeReading() {
    guard isPaused, !hasEnded else { return }
    isPaused = false
    startReading()
  }

  /// Has the system ask a silent peer for a sign of life, where the socket is one of TCP.
  func probe(after silence: Duration) {
    guard let stream, stream.pointee.type == UV_TCP else { return }
    let tcp = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_tcp_t.self)
    uv_tcp_keepalive(tcp, 1, UInt32(clamping: silence.components.seconds))
  }

  private func lendMemory() -> uv_buf_t {
    let memory = loop.readBuffer
    let count = share.next(in: loop.turn, of: memory.count)
    return uv_buf_init(memory.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(count))
  }

  private func didRead(_ count: Int, _ base: UnsafeMutablePointer<CChar>?) {
    if count > 0 {
      let bytes = UnsafeRawBufferPointer(start: base, count: count)
      // Most reads bring no more than may be brought whatever it costs.
      guard count > ReadShare.least else {
        share.spend(count, taking: 0)
        delegate?.socketDidRead(bytes)
        return
      }
      let start = loop.now
      delegate?.socketDidRead(bytes)
      share.spend(count, taking: loop.now - start)
    } else if count < 0 {
      stopReading()
      hasEnded = true
      if lingering != nil { return close() }
      delegate?.socketDidEnd(Int32(count) == UV_EOF.rawValue ? nil : SocketError(Int32(count)))
    }
  }

  /// Writes now what the socket takes, and the rest as it drains; until then `isWriting` is true, and the
  /// buffer is kept.
  func write(_ output: OutputBuffer) {
    // libuv ends the process over a list of nothing.
    guard let stream, !isWriting, !takesNoMore, !output.isEmpty else { return loop.giveBack(output) }
    withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: output.pieceCount) { pieces in
      var count = 0
      output.forEachPiece { piece in
        // libuv takes mutable pointers and does not write through them.
        let base = UnsafeMutableRawPointer(mutating: piece.baseAddress)?.assumingMemoryBound(to: CChar.self)
        pieces.initializeElement(at: count, to: uv_buf_init(base, UInt32(piece.count)))
        count += 1
      }
      let written = uv_try_write(stream, pieces.baseAddress, UInt32(count))
      if Int(written) == output.byteCount {
        loop.giveBack(output)
      } else {
        writeRest(of: output, pieces, skipping: max(0, Int(written)))
      }
    }
  }

  private func writeRest(
    of output: OutputBuffer,
    _ pieces: UnsafeMutableBufferPointer<uv_buf_t>,
    skipping: Int
  ) {
    guard let stream else { return }
    var skipped = skipping
    var first = 0
    while first < pieces.count, skipped >= pieces[first].len {
      skipped -= pieces[first].len
      first += 1
    }
    guard first < pieces.count else { return loop.giveBack(output) }
    pieces[first].base += skipped
    pieces[first].len -= skipped
    request.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    let rest = UnsafeMutableBufferPointer(rebasing: pieces[first...])
    let result = uv_write(request, stream, rest.baseAddress, UInt32(rest.count)) { request, status in
      Socket.of(request?.pointee.data)?.didWrite(status)
    }
    isWriting = true
    pending = output
    guard result != 0 else { return }
    // On the loop still, but not from inside the write.
    nonisolated(unsafe) let socket = self
    loop.execute { socket.didWrite(result) }
  }

  private func didWrite(_ status: Int32) {
    isWriting = false
    if let output = pending { loop.giveBack(output) }
    pending = nil
    guard stream != nil else { return }
    guard status != 0 else {
      delegate?.socketDidDrain()
      return
    }
    takesNoMore = true
    // What has come from a peer that is gone may say why, so reading goes on, and reports the same unless it is paused.
    let isPeerGone = status == UV_EPIPE.rawValue || status == UV_ECONNRESET.rawValue
    guard isPaused || !isPeerGone, !hasEnded else { return }
    stopReading()
    hasEnded = true
    if lingering != nil { return close() }
    delegate?.socketDidEnd(SocketError(status))
  }

  /// How long a peer has to read the last words and close.
  private static let lingeringTime = Duration.seconds(1)

  /// Closes when the peer does, with what was written last sent and the rest of what it sends thrown away: closing
  /// with bytes unread would make the system take back what the peer has not read yet. Waits only so long, and
  /// only for so many sockets at once.
  func closeGently() {
    guard let stream, !hasEnded, loop.lingeringSockets < Loop.maxLingeringSockets else { return close() }
    resumeReading()
    delegate = nil
    let timer = LoopTimer { self.close() }
    lingering = timer
    loop.lingeringSockets += 1
    loop.schedule(timer, after: Self.lingeringTime)
    let request = UnsafeMutablePointer<uv_shutdown_t>.allocate(capacity: 1)
    let result = uv_shutdown(request, stream) { request, _ in request?.deallocate() }
    guard result != 0 else { return }
    request.deallocate()
    close()
  }

  func close() {
    guard let stream else { return }
    self.stream = nil
    delegate = nil
    if let lingering {
      loop.cancel(lingering)
      loop.lingeringSockets -= 1
      self.lingering = nil
    }
    uv_close(UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_handle_t.self)) { handle in
      guard let handle, let data = handle.pointee.data else { return }
      let socket = Unmanaged<Socket>.fromOpaque(data).takeRetainedValue()
      socket.loop.openHandles -= 1
      handle.deallocate()
    }
  }
}

extension Socket {
  /// This end's address, as the system has it now.
  var localAddress: SocketAddress? { descriptor.flatMap { ListeningSocket.name(of: $0) } }

  /// The peer's; `nil` once the peer is gone.
  var remoteAddress: SocketAddress? { descriptor.flatMap { ListeningSocket.peer(of: $0) } }
}

// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Receives the events of a socket, on the loop.
package protocol SocketDelegate: AnyObject {
  /// Called with bytes that are only valid during this call.
  func socketDidRead(_ bytes: UnsafeRawBufferPointer)
  /// Called when the peer closed or the connection broke; at most once. If something cannot be written after the peer
  /// has closed, it is called once more.
  func socketDidEnd(_ error: SocketError?)
  /// Called when everything that could not be written at once has been written.
  func socketDidDrain()
}

/// A connected stream socket, TCP or Unix, on one loop.
package final class Socket {
  // Unchecked exclusivity: confined to the loop, and no access lasts while other code is called.
  let loop: Loop
  @exclusivity(unchecked) private var stream: UnsafeMutablePointer<uv_stream_t>?
  /// Released by `close`. Not weak, because a weak reference makes every retain of the delegate slow.
  @exclusivity(unchecked) package var delegate: (any SocketDelegate)?
  @exclusivity(unchecked) package private(set) var isWriting = false
  /// A write has failed: nothing may be written after the lost bytes.
  @exclusivity(unchecked) private var takesNoMore = false
  /// Ends a gentle close if the peer does not close.
  @exclusivity(unchecked) private var lingering: LoopTimer?
  @exclusivity(unchecked) private var hasEnded = false
  @exclusivity(unchecked) private(set) var isPaused = false
  @exclusivity(unchecked) private var share = ReadShare()
  /// How many bytes the last read had room for.
  @exclusivity(unchecked) private var room = 0
  /// Whether the last read took all that it had room for, so that the system may have more.
  @exclusivity(unchecked) private var mayHaveUnread = false
  @exclusivity(unchecked) private var pending: OutputBuffer?
  /// libuv's part of a write that is in progress: most sockets never have one.
  @exclusivity(unchecked) private var request: UnsafeMutablePointer<uv_write_t>?

  /// Takes ownership of a connected libuv stream.
  init(loop: Loop, adopting stream: UnsafeMutablePointer<uv_stream_t>) {
    self.loop = loop
    self.stream = stream
    loop.openHandles += 1
    stream.pointee.data = Unmanaged.passRetained(self).toOpaque()
  }

  deinit { request?.deallocate() }

  /// `nil` once the socket is closed.
  var descriptor: Int32? {
    guard let stream else { return nil }
    var found: uv_os_fd_t = -1
    let handle = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_handle_t.self)
    return uv_fileno(handle, &found) == 0 ? found : nil
  }

  static func of(_ data: UnsafeMutableRawPointer?) -> Socket? {
    data.map { Unmanaged<Socket>.fromOpaque($0).takeUnretainedValue() }
  }

  package func startReading() {
    guard let stream else { return }
    uv_read_start(
      stream,
      { handle, _, buffer in
        guard let socket = Socket.of(handle?.pointee.data), let buffer else { return }
        buffer.pointee = socket.lendMemory()
      },
      { handle, count, buffer in
        guard let socket = Socket.of(handle?.pointee.data), let buffer else { return }
        // Without a buffer, this only means that there is more to read in the next turn.
        if buffer.pointee.len == 0, count == UV_ENOBUFS.rawValue { return }
        socket.didRead(count, buffer.pointee.base)
      }
    )
  }

  func stopReading() {
    if let stream { uv_read_stop(stream) }
  }

  /// Stops reading until `resumeReading`.
  package func pauseReading() {
    guard !hasEnded, lingering == nil else { return }
    isPaused = true
    stopReading()
  }

  package func resumeReading() {
    guard isPaused, !hasEnded else { return }
    isPaused = false
    startReading()
  }

  /// Whether more had arrived when something was read last, or has since then.
  package var hasUnread: Bool {
    guard mayHaveUnread, let descriptor else { return false }
    var byte: UInt8 = 0
    return recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
  }

  /// Enables TCP keepalive, if this is a TCP socket.
  package func probe(after silence: Duration) {
    guard let stream, stream.pointee.type == UV_TCP else { return }
    let tcp = UnsafeMutableRawPointer(stream).assumingMemoryBound(to: uv_tcp_t.self)
    uv_tcp_keepalive(tcp, 1, UInt32(clamping: silence.components.seconds))
  }

  /// How long the peer may leave bytes unacknowledged before the system ends the connection (gRFC A18). Only Linux has
  /// this, and only for TCP.
  package func setUserTimeout(_ limit: Duration) {
    #if os(Linux)
      guard let stream, stream.pointee.type == UV_TCP, let descriptor else { return }
      // Zero would be the system's own limit.
      var milliseconds = Int32(clamping: max(1, limit.nanoseconds / 1_000_000))
      let size = socklen_t(MemoryLayout<Int32>.size)
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
    #endif
  }

  private func lendMemory() -> uv_buf_t {
    loop.eventDidCome()
    let memory = loop.readBuffer
    let count = share.next(in: loop.turn, of: memory.count)
    room = count
    return uv_buf_init(memory.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(count))
  }

  private func didRead(_ count: Int, _ base: UnsafeMutablePointer<CChar>?) {
    if count > 0 {
      let bytes = UnsafeRawBufferPointer(start: base, count: count)
      mayHaveUnread = count == room
      // Most reads are small enough to be allowed whatever their processing costs.
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

  /// Writes as much as the socket accepts now, and the rest as it drains; until then `isWriting` is true and the buffer
  /// is kept.
  package func write(_ output: OutputBuffer) {
    // libuv aborts the process if the list is empty.
    guard let stream, !isWriting, !takesNoMore, !output.isEmpty else { return loop.giveBack(output) }
    withUnsafeTemporaryAllocation(of: uv_buf_t.self, capacity: output.pieceCount) { pieces in
      var count = 0
      output.forEachPiece { piece in
        // libuv takes mutable pointers but does not write through them.
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
    let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    self.request = request
    request.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    let rest = UnsafeMutableBufferPointer(rebasing: pieces[first...])
    let result = uv_write(request, stream, rest.baseAddress, UInt32(rest.count)) { request, status in
      guard let socket = Socket.of(request?.pointee.data) else { return }
      socket.loop.eventDidCome()
      socket.didWrite(status)
    }
    isWriting = true
    pending = output
    guard result != 0 else { return }
    // Still on the loop, but not within the write.
    nonisolated(unsafe) let socket = self
    loop.execute { socket.didWrite(result) }
  }

  private func didWrite(_ status: Int32) {
    isWriting = false
    request?.deallocate()
    request = nil
    if let output = pending { loop.giveBack(output) }
    pending = nil
    guard stream != nil else { return }
    guard status != 0 else {
      delegate?.socketDidDrain()
      return
    }
    takesNoMore = true
    // Data received from a peer that is gone may say why, so reading continues, and reports the same error unless it is
    // paused.
    let isPeerGone = status == UV_EPIPE.rawValue || status == UV_ECONNRESET.rawValue
    guard isPaused || hasEnded || !isPeerGone else { return }
    stopReading()
    hasEnded = true
    if lingering != nil { return close() }
    delegate?.socketDidEnd(SocketError(status))
  }

  /// The time that a peer has to read the last bytes and close.
  private static let lingeringTime = Duration.seconds(1)

  /// Sends what was written last and closes when the peer does, discarding what it sends meanwhile. Closing with unread
  /// bytes would make the system drop bytes that the peer has not read yet. The wait and the number of waiting sockets
  /// are limited.
  package func closeGently() {
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

  package func close() {
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
  /// The local address, as the system reports it now.
  package var localAddress: SocketAddress? { descriptor.flatMap { ListeningSocket.name(of: $0) } }

  /// The address of the peer; `nil` once the peer is gone.
  package var remoteAddress: SocketAddress? { descriptor.flatMap { ListeningSocket.peer(of: $0) } }
}

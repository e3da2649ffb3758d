import Foundation

/// One connection through a relay. Used only on the relay's thread.
final class RelayLink {
  /// One of its two directions.
  private final class Lane {
    let source: Int32
    let destination: Int32
    var scanner: GateScanner?
    var held: [UInt8] = []
    var isHeld = false
    var pending: [UInt8] = []
    var hasEnded = false

    init(_ source: Int32, _ destination: Int32, _ gate: Gate?) {
      self.source = source
      self.destination = destination
      scanner = gate.map { GateScanner($0) }
    }
  }

  private let client: Int32
  private let server: Int32
  private let lanes: [Lane]
  private static let buffer = 1 << 18

  init(client: Int32, server: Int32, gate: Gate?) {
    self.client = client
    self.server = server
    lanes = [
      Lane(client, server, gate?.direction == .toServer ? gate : nil),
      Lane(server, client, gate?.direction == .toClient ? gate : nil),
    ]
    for descriptor in [client, server] {
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
      var yes: Int32 = 1
      setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    }
  }

  /// A direction has reached its gate.
  var isHeld: Bool { lanes.contains(where: \.isHeld) }

  /// The events to poll for; a stalled link polls for none.
  func interests(stalled: Bool) -> [pollfd] {
    lanes.map { lane in
      let wantsIn = !stalled && !lane.hasEnded && lane.pending.count < Self.buffer
      return pollfd(fd: wantsIn ? lane.source : -1, events: Int16(POLLIN), revents: 0)
    }
      + lanes.map { lane in
        let wantsOut = !stalled && !lane.pending.isEmpty
        return pollfd(fd: wantsOut ? lane.destination : -1, events: Int16(POLLOUT), revents: 0)
      }
  }

  /// Forwards what it can. Returns `false` when the connection is over.
  func carry(_ events: ArraySlice<pollfd>) -> Bool {
    let events = Array(events)
    for (index, lane) in lanes.enumerated() {
      if events[index].revents != 0, !read(lane) { return false }
      if events[index + lanes.count].revents != 0 || !lane.pending.isEmpty, !write(lane) { return false }
    }
    return !lanes.allSatisfy { $0.hasEnded && $0.pending.isEmpty }
  }

  /// Forwards what was held back.
  func release() {
    for lane in lanes {
      lane.scanner = nil
      lane.pending += lane.held
      lane.held = []
      lane.isHeld = false
    }
  }

  /// Closes both connections: after delivering everything, or with a reset, like a failed network.
  func close(abruptly: Bool) {
    for descriptor in [client, server] {
      if abruptly { Relay.closeAbruptly(descriptor) } else { Foundation.close(descriptor) }
    }
  }

  private func read(_ lane: Lane) -> Bool {
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    let count = Foundation.read(lane.source, &piece, piece.count)
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    guard count > 0 else {
      // If the sender disconnects while its bytes are held back, they were never sent.
      if lane.isHeld { return false }
      lane.hasEnded = true
      if lane.pending.isEmpty { shutdown(lane.destination, Int32(SHUT_WR)) }
      return true
    }
    let bytes = Array(piece.prefix(count))
    if lane.isHeld {
      // Read nevertheless, to detect the end of the stream.
      lane.held += bytes
      return true
    }
    guard let (passing, held) = lane.scanner?.split(bytes) else {
      lane.pending += bytes
      return true
    }
    lane.pending += passing
    if let held {
      lane.held = held
      lane.isHeld = true
    }
    return true
  }

  private func write(_ lane: Lane) -> Bool {
    while !lane.pending.isEmpty {
      let count = lane.pending.withUnsafeBytes {
        send(lane.destination, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0 { return errno == EAGAIN || errno == EINTR }
      lane.pending.removeFirst(count)
    }
    if lane.hasEnded { shutdown(lane.destination, Int32(SHUT_WR)) }
    return true
  }
}

import Glibc

/// The blocking socket of an attacker, which reads no more than it needs to count answers.
final class AttackSocket {
  private let descriptor: Int32
  private var reader: AnswerReader
  private var awaited = 0
  private var isClosed = false
  private var hasReceived = false

  /// Whether the server has ended the connection.
  var isDismissed: Bool { isClosed || reader.sawGoAway }

  /// `nil` if the server does not accept the connection.
  init?(port: UInt16, speaksHTTP1: Bool = false) {
    reader = AnswerReader(speaksHTTP1: speaksHTTP1)
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    // Closes with a reset; otherwise its port would stay in use for a minute.
    var linger = Glibc.linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    let result = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else {
      close(descriptor)
      return nil
    }
  }

  deinit { close(descriptor) }

  /// Returns how many of the bytes the server accepted.
  func send(_ bytes: [UInt8]) -> Int {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else {
        isClosed = true
        break
      }
      sent += count
    }
    return sent
  }

  /// Reads what has arrived, without waiting.
  func poll() { _ = receive(Int32(MSG_DONTWAIT)) }

  /// Waits until this many more streams have ended with a response.
  func wait(forAnswers count: Int) {
    awaited += count
    while reader.ended < awaited, !isDismissed, receive(0) {}
  }

  /// Waits for the first bytes of the server.
  func waitForBytes() {
    while !hasReceived, !isDismissed, receive(0) {}
  }

  /// Waits until the server sends GOAWAY or closes the connection.
  func waitForDismissal() {
    while !isDismissed, receive(0) {}
  }

  /// What arrives next; nothing at the end.
  func read() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 65536) { memory, count in
      count = max(0, recv(descriptor, memory.baseAddress, memory.count, 0))
    }
  }

  private func receive(_ flags: Int32) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 65536, alignment: 16) { memory in
      let count = recv(descriptor, memory.baseAddress, memory.count, flags)
      guard count > 0 else {
        isClosed = count == 0 || errno != EAGAIN
        return false
      }
      hasReceived = true
      reader.read(UnsafeRawBufferPointer(rebasing: memory[..<count]))
      return true
    }
  }
}

/// Counts the ends of streams in the frames of a server, or its responses in HTTP/1.1.
private struct AnswerReader {
  private static let statusLine = Array("HTTP/1.1 ".utf8)

  private let speaksHTTP1: Bool
  private var head: [UInt8] = []
  private var payloadLeft = 0
  private(set) var ended = 0
  private(set) var sawGoAway = false

  init(speaksHTTP1: Bool) { self.speaksHTTP1 = speaksHTTP1 }

  mutating func read(_ bytes: UnsafeRawBufferPointer) {
    guard speaksHTTP1 else { return readFrames(bytes) }
    for byte in bytes {
      if head.count == Self.statusLine.count { head.removeAll(keepingCapacity: true) }
      if byte != Self.statusLine[head.count] { head.removeAll(keepingCapacity: true) }
      if byte == Self.statusLine[head.count] { head.append(byte) }
      if head.count == Self.statusLine.count { ended += 1 }
    }
  }

  private mutating func readFrames(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let skipped = min(payloadLeft, rest.count)
      payloadLeft -= skipped
      rest = rest.dropFirst(skipped)
      let taken = min(9 - head.count, rest.count)
      head += rest.prefix(taken)
      rest = rest.dropFirst(taken)
      guard head.count == 9 else { return }
      payloadLeft = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
      let kind = AttackFrame.Kind(rawValue: head[3])
      if kind == .goAway { sawGoAway = true }
      let endsStream = (kind == .data || kind == .headers) && head[4] & AttackFrame.endStream != 0
      if endsStream || kind == .reset { ended += 1 }
      head.removeAll(keepingCapacity: true)
    }
  }
}

import Dispatch
import Glibc
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The fuzzer's end of a connection; a loop serves the other end.
struct FedSocket {
  private let loop: Loop
  private let descriptor: Int32

  /// More pieces would only take longer.
  private static let mostPieces = 16

  /// `adopt` receives the other end, on the loop.
  init(on loop: Loop, _ adopt: @escaping @Sendable (Int32) -> Void) throws {
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
    else {
      throw BrokenPromise(description: "cannot open a socket: \(SocketError(errno: errno))")
    }
    let other = pair[1]
    _ = fcntl(other, F_SETFL, fcntl(other, F_GETFL) | O_NONBLOCK)
    loop.execute { adopt(other) }
    var timeout = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    self.loop = loop
    descriptor = pair[0]
  }

  /// Sends the input and then EOF, waits for EOF from the other end, and closes.
  ///
  /// The first byte controls how the rest is sent: after a greeting unless it is a multiple of four, and in pieces of a
  /// quarter of its value.
  func feed(_ input: [UInt8], after greeting: [UInt8]) throws {
    defer { close() }
    let first = input.first ?? 0
    if first % 4 != 0 { send(greeting[...]) }
    let rest = input.dropFirst()
    let size = first < 4 ? max(1, rest.count) : max(Int(first / 4), rest.count / Self.mostPieces)
    for start in stride(from: rest.startIndex, to: rest.endIndex, by: size) {
      guard send(rest[start..<min(rest.endIndex, start + size)]) else { break }
      waitForTurn()
    }
    // Once more, so that the responses are sent before EOF is seen.
    waitForTurn()
    try end()
  }

  /// Sends bytes and returns the response from the turn in which they are read.
  func exchange(_ bytes: [UInt8]) -> [UInt8] {
    var answer: [UInt8] = []
    var rest = bytes[...]
    repeat {
      // No more than one read accepts: the rest would stay in the socket.
      send(rest.prefix(Self.batchSize))
      rest = rest.dropFirst(Self.batchSize)
      waitForTurn()
      var piece = [UInt8](repeating: 0, count: 65536)
      while case let count = recv(descriptor, &piece, piece.count, Int32(MSG_DONTWAIT)), count > 0 {
        answer += piece.prefix(count)
      }
    } while !rest.isEmpty
    return answer
  }

  private static let batchSize = 4096

  /// Runs `body` on the loop.
  func onLoop(_ body: @escaping @Sendable () -> Int) -> Int {
    let result = Locked(0)
    let isDone = DispatchSemaphore(value: 0)
    loop.execute {
      result.withLock { $0 = body() }
      isDone.signal()
    }
    isDone.wait()
    return result.withLock { $0 }
  }

  /// Sends EOF and waits for EOF from the other end.
  func end() throws {
    shutdown(descriptor, Int32(SHUT_WR))
    try readToEnd()
  }

  func close() { Glibc.close(descriptor) }

  /// Returns `false` once the other end accepts no more.
  @discardableResult
  private func send(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 || errno == EINTR else { return false }
      rest = rest.dropFirst(max(0, sent))
    }
    return true
  }

  /// Returns after the loop's next turn, in which it reads everything sent before.
  private func waitForTurn() {
    for _ in 0..<2 {
      let turned = DispatchSemaphore(value: 0)
      loop.execute { turned.signal() }
      turned.wait()
    }
  }

  private func readToEnd() throws {
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(descriptor, &piece, piece.count, 0)
      if count == 0 || count < 0 && errno == ECONNRESET { return }
      // The fuzzer's timer interrupts system calls.
      if count < 0, errno != EINTR {
        throw BrokenPromise(description: "a connection is not closed after its peer is gone")
      }
    }
  }
}

import Glibc

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A client on the loop of its server: it reads and writes in the loop's turns, so that what it sees depends on no clock
/// and on no other thread. Use it on the loop.
final class LoopClient: SocketDelegate {
  private let loop: Loop
  private let socket: Socket
  /// The server's side, which has the counters.
  let connection: ServerConnection
  /// Called with what arrives.
  private let read: (LoopClient, UnsafeRawBufferPointer) -> Void
  /// What is written again and again, whenever the socket has room.
  private var endless: [UInt8] = []

  /// Returns `nil` if the system has no sockets left.
  init?(_ core: ServerCore, on loop: Loop, _ read: @escaping (LoopClient, UnsafeRawBufferPointer) -> Void) {
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
    else {
      return nil
    }
    for descriptor in pair { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
    guard let served = Socket.adopt(pair[0], .unix(path: ""), on: loop),
      let socket = Socket.adopt(pair[1], .unix(path: ""), on: loop),
      let connection = ServerConnection(core, loop: loop, socket: served, peer: nil)
    else { return nil }
    self.loop = loop
    self.socket = socket
    self.connection = connection
    self.read = read
    connection.start()
    socket.delegate = self
    socket.startReading()
  }

  func send(_ bytes: [UInt8]) {
    let output = loop.takeOutput()
    bytes.withUnsafeBytes { output.append($0) }
    socket.write(output)
  }

  /// Writes `bytes` without end.
  func flood(_ bytes: [UInt8]) {
    endless = bytes
    socketDidDrain()
  }

  func socketDidRead(_ bytes: UnsafeRawBufferPointer) { read(self, bytes) }

  func socketDidEnd(_ error: SocketError?) { socket.close() }

  func socketDidDrain() {
    while !endless.isEmpty, !socket.isWriting { send(endless) }
  }

  /// Ends both sides.
  func close() {
    endless = []
    socket.close()
    connection.close(.connectionLost)
  }
}

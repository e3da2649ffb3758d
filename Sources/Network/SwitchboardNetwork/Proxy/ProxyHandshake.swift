// unsafe: bytes that the socket lends for one read

import SwitchboardCall

/// Requests a tunnel on a socket that is connected to a proxy, before a connection takes over the socket.
package final class ProxyHandshake: SocketDelegate {
  /// The socket, and bytes that have already arrived through the tunnel.
  package typealias Completion = (Result<(socket: Socket, unread: [UInt8]), GRPCStatus>) -> Void

  private let socket: Socket
  private let proxy: ProxyServer
  private var dialogue: any ProxyDialogue
  private var completion: Completion?
  /// The bytes that the socket has not accepted yet.
  private var unsent: [UInt8] = []

  /// Owns the socket until `completion`, which receives the open socket or the reason of the failure.
  package init(_ socket: Socket, _ tunnel: ProxyRoute.Tunnel, completion: @escaping Completion) {
    self.socket = socket
    proxy = tunnel.proxy
    dialogue = tunnel.proxy.dialogue(to: tunnel.destination)
    self.completion = completion
  }

  package func start() {
    socket.delegate = self
    send(dialogue.opening)
    socket.startReading()
  }

  /// Closes the socket; the completion is not called.
  package func cancel() {
    guard completion != nil else { return }
    completion = nil
    socket.close()
  }

  /// Ends an attempt that has taken too long.
  package func timeOut() { fail(.silent) }

  package func socketDidRead(_ bytes: UnsafeRawBufferPointer) {
    var rest = Array(bytes)[...]
    while completion != nil {
      switch dialogue.receive(&rest) {
      case .wait: return
      case .send(let bytes): send(bytes)
      // The proxy answered before the request was sent completely.
      case .open where !unsent.isEmpty: fail(.nonsense)
      case .open: finish(.success((socket, Array(rest))))
      case .failed(let failure): fail(failure)
      }
    }
  }

  package func socketDidEnd(_ error: SocketError?) { fail(.ended(error)) }

  package func socketDidDrain() { send([]) }

  private func send(_ bytes: [UInt8]) {
    unsent += bytes
    guard !unsent.isEmpty, !socket.isWriting else { return }
    let output = socket.loop.takeOutput()
    unsent.withUnsafeBytes { output.append($0) }
    unsent = []
    socket.write(output)
  }

  private func fail(_ failure: ProxyFailure) {
    guard completion != nil else { return }
    socket.close()
    finish(.failure(failure.status(of: proxy)))
  }

  private func finish(_ result: Result<(socket: Socket, unread: [UInt8]), GRPCStatus>) {
    let completion = completion
    self.completion = nil
    completion?(result)
  }
}

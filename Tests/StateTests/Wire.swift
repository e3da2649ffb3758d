import Glibc

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Captures the output of a connection under test. It reads nothing: input is passed in directly.
struct Wire {
  private let descriptor: Int32

  /// `nil` if the system has no free sockets. Call on the loop.
  static func make(on loop: Loop) -> (wire: Wire, socket: Socket)? {
    var pair: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { return nil }
    guard let socket = Socket.adopt(pair[1], .unix(path: ""), on: loop) else {
      Glibc.close(pair[0])
      return nil
    }
    return (Wire(descriptor: pair[0]), socket)
  }

  /// Passes what was sent since the last time to `body`.
  func read(_ body: (UnsafeRawBufferPointer) -> Void) {
    withUnsafeTemporaryAllocation(byteCount: 64 * 1024, alignment: 1) { buffer in
      while true {
        let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
        guard count > 0 else { return }
        body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        if count < buffer.count { return }
      }
    }
  }

  func close() { Glibc.close(descriptor) }
}

extension Connection {
  /// Delivers bytes as if the peer had sent them.
  func feed(_ bytes: [UInt8]) { bytes.withUnsafeBytes { socketDidRead($0) } }
}

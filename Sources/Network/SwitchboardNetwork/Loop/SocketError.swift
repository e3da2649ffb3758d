import CLibuv
import SwitchboardCall

/// An error of the system on a socket.
package struct SocketError: Error, Equatable, CustomStringConvertible {
  let code: Int32

  init(_ code: Int32) {
    self.code = code
  }

  /// libuv uses the numbers of `errno`, negated.
  init(errno: Int32) {
    self.init(-errno)
  }

  package var description: String { String(cString: uv_strerror(code)) }

  /// The error as gRFC A94 names it in metrics.
  package var label: String {
    switch code {
    case UV_ECONNRESET.rawValue: "connection reset"
    case UV_ETIMEDOUT.rawValue: "connection timed out"
    case UV_ECONNABORTED.rawValue: "connection aborted"
    default: "socket error"
    }
  }

  package func status(_ what: String) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: "\(what): \(self)", origin: .library)
  }
}

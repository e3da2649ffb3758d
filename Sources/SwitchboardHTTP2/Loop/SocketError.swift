import CLibuv
import SwitchboardCall

/// What the system said of a socket.
struct SocketError: Error, Equatable, CustomStringConvertible {
  let code: Int32

  init(_ code: Int32) {
    self.code = code
  }

  /// From `errno`, whose numbers libuv uses with the sign turned.
  init(errno: Int32) {
    self.init(-errno)
  }

  var description: String { String(cString: uv_strerror(code)) }

  func status(_ what: String) -> GRPCStatus {
    GRPCStatus(code: .unavailable, message: "\(what): \(self)", origin: .library)
  }
}

import CAres
import SwitchboardCall

/// The reason why a lookup failed.
struct NameFailure: Error {
  let reason: String

  /// The message contains `servers` if they are at fault.
  init(_ status: Int32, asking servers: String) {
    // Without free descriptors, c-ares cannot reach any server, and reports that as a failure of the server.
    if let shortage = ProcessDescriptors.shortage {
      reason = "\(shortage)"
      return
    }
    reason =
      switch status {
      case ARES_ENOTFOUND: "\(servers) does not know it"
      case ARES_ENODATA: "\(servers) has no such records for it"
      case ARES_EBADNAME: "it is not a host name"
      case ARES_ETIMEOUT: "\(servers) did not answer in time"
      // c-ares does not distinguish these: it tries the next server until none is left.
      case ARES_ECONNREFUSED, ARES_ESERVFAIL, ARES_EREFUSED, ARES_ENOTIMP:
        "\(servers) cannot be reached, or reported a failure"
      case ARES_EBADRESP, ARES_EFORMERR: "\(servers) sent a malformed answer"
      default: "\(servers) failed: \(String(cString: ares_strerror(status)))"
      }
  }

  private init(_ error: SocketError) {
    reason = "\(error)"
  }

  /// Throws if no descriptor is free: c-ares would treat an unreadable configuration as missing.
  static func checkDescriptors() throws(NameFailure) {
    if let shortage = ProcessDescriptors.shortage { throw NameFailure(shortage) }
  }
}

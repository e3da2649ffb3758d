import CAres
import SwitchboardCall

/// Why c-ares found nothing.
struct NameFailure: Error {
  let reason: String

  /// `servers` are named if it is their fault.
  init(_ status: Int32, asking servers: String) {
    // Without a descriptor, c-ares cannot reach any server, which it takes for the server's failure.
    if let shortage = ProcessDescriptors.shortage {
      reason = "\(shortage)"
      return
    }
    reason =
      switch status {
      case ARES_ENOTFOUND: "\(servers) does not know it"
      case ARES_ENODATA: "\(servers) has no such records of it"
      case ARES_EBADNAME: "it is not a host name"
      case ARES_ETIMEOUT: "\(servers) did not answer in time"
      // c-ares does not tell these apart: it moves on to the next server, until none is left.
      case ARES_ECONNREFUSED, ARES_ESERVFAIL, ARES_EREFUSED, ARES_ENOTIMP:
        "\(servers) cannot be reached, or reported a failure"
      case ARES_EBADRESP, ARES_EFORMERR: "\(servers) gave an answer that makes no sense"
      default: "\(servers) failed: \(String(cString: ares_strerror(status)))"
      }
  }

  private init(_ error: SocketError) {
    reason = "\(error)"
  }

  /// Throws if no descriptor is left: c-ares would take a configuration that it cannot read for none.
  static func checkDescriptors() throws(NameFailure) {
    if let shortage = ProcessDescriptors.shortage { throw NameFailure(shortage) }
  }
}

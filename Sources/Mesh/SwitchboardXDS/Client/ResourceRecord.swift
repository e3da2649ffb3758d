import SwitchboardProtobuf

/// What a client knows of a resource, for those who look on (gRFCs A40 and A88).
struct ResourceRecord: Hashable, Sendable {
  enum Status: Hashable, Sendable {
    /// It was asked for, and has not come.
    case requested
    /// There is none.
    case missing
    /// The latest version is used.
    case accepted
    /// The latest version is invalid.
    case refused
    /// The control plane says why it does not send it: because there is none, or for another reason.
    case withheld(isMissing: Bool)
    /// It did not come in time, from a control plane that says itself what there is not.
    case late
  }

  /// A version that is used.
  struct Version: Hashable, Sendable {
    var name: String
    /// As it came.
    var contents: Google_Protobuf_Any
    var time: Google_Protobuf_Timestamp
  }

  /// Why the latest version is not used, or why there is none.
  struct Failure: Hashable, Sendable {
    var reason: String
    var time: Google_Protobuf_Timestamp
    /// The version and the resource that are refused.
    var version = ""
    var contents: Google_Protobuf_Any?
  }

  var status = Status.requested
  var used: Version?
  var failure: Failure?
}

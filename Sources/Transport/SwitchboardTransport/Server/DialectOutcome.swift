import SwitchboardCall

/// What a dialect has made of a request that is not gRPC's.
///
/// ```
///   nothing ──> a call, which may fail at once
///      ├──────> a page
///      └──────> a refusal <── a page whose request is too large
/// ```
/// An object, because requests of gRPC have none: the head of each call would be twice as large. It does not change, because
/// calls with equal heads share theirs.
final class DialectOutcome {
  let isCall: Bool
  /// Why the call fails before its handler runs.
  let failure: GRPCStatus?
  /// Whether the dialect has settings of its own, and not gRPC's.
  let hasSettings: Bool
  /// The metadata of the call, if other headers are not metadata.
  let metadata: HPACKHeaders?
  /// The page that answers.
  let page: HTTPPage?
  let refusal: RequestHead.Rejection?

  init(_ call: borrowing DialectCall) {
    isCall = true
    // Copying a status costs more than all the rest, and few calls have one.
    failure = call.failure != nil ? call.failure : nil
    switch call.settings {
    case nil: (hasSettings, metadata) = (false, nil)
    case let settings?: (hasSettings, metadata) = (true, settings.metadata)
    }
    (page, refusal) = (nil, nil)
  }

  init(_ page: HTTPPage) {
    (isCall, failure, hasSettings, metadata) = (false, nil, false, nil)
    (self.page, refusal) = (page, nil)
  }

  init(refusing rejection: RequestHead.Rejection) {
    (isCall, failure, hasSettings, metadata) = (false, nil, false, nil)
    (page, refusal) = (nil, rejection)
  }
}

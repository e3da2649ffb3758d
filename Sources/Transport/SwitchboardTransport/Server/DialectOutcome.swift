import SwitchboardCall

/// What a dialect has made of a request that is not gRPC's.
///
/// ```
///   nothing ──> a call, which may fail at once
///      ├──────> a page
///      └──────> a refusal <── a page whose request is too large
/// ```
/// An object, because requests of gRPC have none: the head of each call would be twice as large.
final class DialectOutcome {
  private(set) var isCall = false
  /// Why the call fails before its handler runs.
  private(set) var failure: GRPCStatus?
  /// Whether the dialect has settings of its own, and not gRPC's.
  private(set) var hasSettings = false
  /// The metadata of the call, if other headers are not metadata.
  private(set) var metadata: HPACKHeaders?
  /// The page that answers.
  private(set) var page: HTTPPage?
  private(set) var refusal: RequestHead.Rejection?

  func become(_ call: borrowing DialectCall) {
    isCall = true
    // Copying a status costs more than all the rest, and few calls have one.
    if call.failure != nil { failure = call.failure }
  }

  func set(_ settings: borrowing DialectSettings) {
    hasSettings = true
    metadata = settings.metadata
  }

  func become(_ page: HTTPPage) { self.page = page }

  func refuse(
    _ status: StaticString,
    _ message: String,
    header: (name: StaticString, value: String)? = nil
  ) {
    page = nil
    refusal = .http(status: status, message: message, header: header)
  }
}

public import Switchboard

/// A part of a call's requests, as a fake response sees it.
@frozen
public enum FakeRequestPart<Request: Sendable>: Sendable {
  /// The metadata at the start of the call.
  case metadata(HPACKHeaders)
  /// A request.
  case message(Request)
  /// The end of the requests.
  case end
}

extension FakeRequestPart: Equatable where Request: Equatable {}
extension FakeRequestPart: Hashable where Request: Hashable {}

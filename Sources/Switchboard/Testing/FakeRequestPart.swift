/// What a fake response sees of a call's requests.
@frozen
public enum FakeRequestPart<Request: Sendable>: Sendable {
  /// What the client sent at the start of the call.
  case metadata(HPACKHeaders)
  /// A request.
  case message(Request)
  /// Nothing follows.
  case end
}

extension FakeRequestPart: Equatable where Request: Equatable {}
extension FakeRequestPart: Hashable where Request: Hashable {}

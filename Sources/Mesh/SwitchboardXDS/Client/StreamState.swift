import SwitchboardCall
import SwitchboardText

/// A request of the client to a control plane.
struct DiscoveryRequest: Hashable, Sendable {
  var type: ResourceType
  /// Sorted by their bytes.
  var names: [String]
  /// The version in use; empty if there is none.
  var version: String
  /// The response that is answered; empty for the first request about the type.
  var nonce: String
  /// Why the response is refused.
  var refusal: String?
  /// Whether it is the first one of its stream, which says who asks.
  var isFirst = false
}

/// The stream to one control plane: which requests are due, and what they answer. It does not know the resources.
///
/// ```
///   none ──opened──> opened ──connected──> connected ──ended──> none
/// ```
struct StreamState: Sendable {
  private struct TypeState {
    /// The version of the latest response that was accepted, unless another control plane has changed what is used since.
    var version = ""
    /// The latest response of this stream.
    var nonce = ""
    /// Whether a request is due.
    var isDue = false
    /// Why the latest response is refused, until that is said.
    var refusal: String?
    /// The refusal that the log has, unless a response was accepted since.
    var loggedRefusal: String?
  }

  private enum Phase {
    case none
    case opened
    case connected
  }

  private var phase = Phase.none
  private var types: [TypeState] = Array(repeating: TypeState(), count: ResourceType.allCases.count)
  private var hasSent = false
  /// The types of which a request is due, in order.
  private var due: [ResourceType] = []
  private(set) var hasReceived = false
  /// Why the control plane cannot be asked, until it answers.
  private(set) var failure: GRPCStatus?

  var isOpen: Bool { phase != .none }
  var isConnected: Bool { phase == .connected }

  /// A stream was opened: it can take requests, although it may not be connected yet.
  mutating func opened() {
    phase = .opened
    (hasSent, hasReceived) = (false, false)
  }

  /// The stream has a connection. Returns whether that is news.
  mutating func connected() -> Bool {
    guard phase == .opened else { return false }
    phase = .connected
    return true
  }

  /// A response has come.
  mutating func answered() {
    phase = .connected
    (hasReceived, failure) = (true, nil)
  }

  /// The stream has ended. That is a failure if nothing has come.
  mutating func ended(_ status: GRPCStatus) {
    if !hasReceived { failure = status }
    end()
  }

  /// There will be no stream for a while.
  mutating func postponed(_ status: GRPCStatus) { failure = status }

  /// The control plane is not asked any more. If it is again, it has to send everything again.
  mutating func closed() {
    failure = nil
    end()
    for type in types.indices { types[type].version = "" }
  }

  private mutating func end() {
    phase = .none
    due = []
    for type in types.indices {
      (types[type].nonce, types[type].isDue, types[type].refusal) = ("", false, nil)
    }
  }

  // MARK: Requests

  /// Whether `nextRequest` has one.
  var hasRequest: Bool { !due.isEmpty }

  mutating func ask(_ type: ResourceType) {
    guard isOpen, !types[type.rawValue].isDue else { return }
    types[type.rawValue].isDue = true
    due.append(type)
  }

  /// The next request to send, for the resources that have these names.
  mutating func nextRequest(_ names: (ResourceType) -> [String]) -> DiscoveryRequest? {
    guard let type = due.first else { return nil }
    due.removeFirst()
    let state = types[type.rawValue]
    (types[type.rawValue].isDue, types[type.rawValue].refusal) = (false, nil)
    defer { hasSent = true }
    return DiscoveryRequest(
      type: type,
      names: names(type),
      version: state.version,
      nonce: state.nonce,
      refusal: state.refusal,
      isFirst: !hasSent
    )
  }

  /// Answers a response, which is accepted as the version, or refused. Returns whether the log does not have that refusal yet: a
  /// control plane may send the same mistake as often as it is refused.
  mutating func answer(_ type: ResourceType, nonce: String, version: String?, refusal: String?) -> Bool {
    let isNews = refusal != nil && refusal != types[type.rawValue].loggedRefusal
    types[type.rawValue].nonce = nonce
    if let version { types[type.rawValue].version = version }
    (types[type.rawValue].refusal, types[type.rawValue].loggedRefusal) = (refusal, refusal)
    ask(type)
    return isNews
  }

  /// Another control plane has changed what is used of a type.
  mutating func forgetVersion(_ type: ResourceType) { types[type.rawValue].version = "" }
}

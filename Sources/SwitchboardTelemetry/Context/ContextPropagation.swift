/// What the calls of a client take over from the call that is served by the task which makes them. The trace always travels.
///
/// ```swift
/// channelOptions.observer = telemetry.observer(passingOn: [.deadline, .cancellation, .metadata("tenant")])
/// ```
public struct ContextPropagation: Sendable, Hashable, ExpressibleByArrayLiteral {
  var passesDeadline = false
  var passesCancellation = false
  var passesBaggage = false
  var metadata: [String] = []

  init() {}

  /// All of these together.
  public init(arrayLiteral elements: ContextPropagation...) {
    for element in elements {
      passesDeadline = passesDeadline || element.passesDeadline
      passesCancellation = passesCancellation || element.passesCancellation
      passesBaggage = passesBaggage || element.passesBaggage
      metadata += element.metadata
    }
  }

  /// No call takes longer than the call that is served may take.
  public static let deadline = with { $0.passesDeadline = true }
  /// Calls are cancelled when the call that is served ends, however it does.
  public static let cancellation = with { $0.passesCancellation = true }
  /// Calls carry the baggage of the task.
  public static let baggage = with { $0.passesBaggage = true }
  /// Calls carry the metadata of the call that is served under these names, unless they have their own.
  public static func metadata(_ names: String...) -> ContextPropagation {
    with { $0.metadata = names.map { $0.lowercased() } }
  }

  /// The trace only.
  public static let nothing = ContextPropagation()

  private static func with(_ change: (inout ContextPropagation) -> Void) -> ContextPropagation {
    var propagation = ContextPropagation()
    change(&propagation)
    return propagation
  }
}

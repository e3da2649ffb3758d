import SwitchboardTransport

/// Selects what a client's calls inherit from the call that the task serves. They always inherit the trace.
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

  /// Combines several.
  public init(arrayLiteral elements: ContextPropagation...) {
    for element in elements {
      passesDeadline = passesDeadline || element.passesDeadline
      passesCancellation = passesCancellation || element.passesCancellation
      passesBaggage = passesBaggage || element.passesBaggage
      metadata += element.metadata
    }
  }

  /// Calls end no later than the deadline of the call that is served.
  public static let deadline = with { $0.passesDeadline = true }
  /// Calls are cancelled when the call that is served ends, in whichever way.
  public static let cancellation = with { $0.passesCancellation = true }
  /// Calls carry the task's baggage.
  public static let baggage = with { $0.passesBaggage = true }
  /// Calls carry the served call's metadata with this name, unless they have their own.
  public static func metadata(_ names: String...) -> ContextPropagation {
    with { $0.metadata = names.map { $0.lowercased() } }
  }

  /// Calls inherit only the trace.
  public static let nothing = ContextPropagation()

  private static func with(_ change: (inout ContextPropagation) -> Void) -> ContextPropagation {
    var propagation = ContextPropagation()
    change(&propagation)
    return propagation
  }
}

extension ContextPropagation {
  /// What has no effect.
  func remarks(givesContext: Bool) -> [String] {
    guard self != .nothing else { return [] }
    var remarks = metadata.compactMap { name -> String? in
      if let fault = FieldSyntax.fault(of: name, "") {
        return "metadata \(name.limited(to: 100).debugDescription) \(fault)"
      }
      return FieldSyntax.isReserved(name)
        ? "metadata \(name) is not passed on: the protocol itself sets it" : nil
    }
    if !givesContext {
      remarks.append("handlers have no context to pass on: set TelemetryOptions.tracesCalls or givesContext")
    }
    return remarks
  }
}

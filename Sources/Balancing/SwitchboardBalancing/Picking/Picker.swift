import SwitchboardCall

/// Chooses a subchannel for each call. A policy replaces its picker whenever anything that the choice depends on
/// changes.
///
/// A picker is used on the channel's loop only, so it needs no lock. It must not block, and it should allocate nothing.
///
/// ```swift
/// final class Fixed: Picker {
///   let subchannel: any Subchannel
///   init(_ subchannel: any Subchannel) { self.subchannel = subchannel }
///   func pick(_ call: any CallToPick) -> Pick { .subchannel(subchannel) }
/// }
/// ```
public protocol Picker: AnyObject {
  /// Chooses for one call.
  func pick(_ call: any CallToPick) -> Pick
}

/// The choice of a picker.
public enum Pick {
  /// The call goes to this subchannel. If the subchannel is no longer ready, the call waits for another picker.
  /// `tracker` is notified when the call ends.
  case subchannel(any Subchannel, tracker: (any LoadTracker)? = nil)
  /// The call waits for another picker.
  case wait
  /// The call fails, unless it waits until a server is ready.
  case fail(GRPCStatus)
  /// The call fails in any case.
  case drop(GRPCStatus)
}

/// A call that a picker places.
public protocol CallToPick: AnyObject {
  /// The method.
  var method: MethodDescriptor { get }
  /// The request's metadata.
  var metadata: HPACKHeaders { get }
  /// What the channel's resolver has decided about the call; `nil` if it only finds servers, as most do.
  var route: CallRoute? { get }
}

/// Is notified when calls end for which a picker chose a server. One object can serve all calls of a subchannel.
public protocol LoadTracker: AnyObject {
  /// Whether to decode the load report that a call's trailers may contain.
  var wantsLoadReport: Bool { get }

  /// A call has ended. Called once for each call that got a server, on the channel's loop.
  func callEnded(_ outcome: CallOutcome)
}

/// The outcome of a call for which a picker chose a server.
public struct CallOutcome: Sendable {
  /// The call's status. `nil` if the call was never sent on the subchannel, because it was not ready or another was
  /// preferred.
  public var status: GRPCStatus?
  /// The load that the server reported in the trailers, if the tracker wants it.
  public var loadReport: LoadReport?

  /// Creates an outcome.
  public init(status: GRPCStatus?, loadReport: LoadReport? = nil) {
    self.status = status
    self.loadReport = loadReport
  }
}

/// Makes the same choice for every call.
public final class ConstantPicker: Picker {
  private let choice: Pick

  /// Always chooses `choice`.
  public init(_ choice: Pick) { self.choice = choice }

  /// Whether every call has to wait, so that calling `pick` is useless.
  package var waits: Bool { if case .wait = choice { true } else { false } }

  /// Whether it fails every call without `waitForReady`.
  package var fails: Bool { if case .fail = choice { true } else { false } }

  public func pick(_ call: any CallToPick) -> Pick { choice }
}

/// Makes calls wait, and requests a connection at the first one.
package final class WakingPicker: Picker {
  private var wake: (() -> Void)?

  /// `wake` is called once, after the pick.
  package init(_ wake: @escaping () -> Void) { self.wake = wake }

  package func pick(_ call: any CallToPick) -> Pick {
    let wake = wake
    self.wake = nil
    wake?()
    return .wait
  }
}

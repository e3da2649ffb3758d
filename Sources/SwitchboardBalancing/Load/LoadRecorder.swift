import SwitchboardCall

/// Holds the load of a server, which the program measures and sets. Usable from any thread.
///
/// A `LoadReportService` sends it to the clients that ask for it, and a server whose options name it adds it to what each
/// call reports:
///
/// ```swift
/// let recorder = LoadRecorder()
/// var options = ServerOptions()
/// options.loadRecorder = recorder
/// let server = try Server(providers: [ShopProvider(), LoadReportService(recorder)], options: options)
/// recorder.update {
///   $0.applicationUtilization = queue.fill
///   $0.queriesPerSecond = rate
/// }
/// ```
/// What is set stays until it is changed; 0 clears it.
public final class LoadRecorder: Sendable {
  private let load = Locked(LoadReport())

  /// Creates a recorder that knows nothing yet.
  public init() {}

  /// The load as it was set last.
  public var report: LoadReport { load.withLock { $0 } }

  /// Changes the load. Clients never see a part of what `change` does. Costs of calls are left out of it.
  public func update(_ change: (inout LoadReport) -> Void) {
    load.withLock { load in
      change(&load)
      load = load.valid
      load.requestCost = [:]
    }
  }
}

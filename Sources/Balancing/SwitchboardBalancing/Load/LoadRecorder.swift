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
/// A value stays until it is changed; 0 clears it.
public final class LoadRecorder: Sendable {
  private let load = Locked(LoadReport())

  /// Creates a recorder without any values.
  public init() {}

  /// The current load.
  public var report: LoadReport { load.withLock { $0 } }

  /// Changes the load. Clients never see a partial change. `requestCost` is ignored, because it belongs to single
  /// calls.
  public func update(_ change: (inout LoadReport) -> Void) {
    load.withLock { load in
      change(&load)
      load = load.valid
      load.requestCost = [:]
    }
  }
}

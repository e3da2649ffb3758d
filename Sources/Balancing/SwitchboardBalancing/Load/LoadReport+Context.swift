public import SwitchboardCall

extension ServerCallContext {
  /// The load that the server reports to the call's client with the status, for policies such as `weighted_round_robin`.
  ///
  /// ```swift
  /// context.loadReport.applicationUtilization = queue.fill
  /// context.loadReport.queriesPerSecond = rate
  /// context.loadReport.requestCost["rows"] = Double(rows.count)
  /// ```
  /// It is sent whether the call succeeds or fails, as the trailer `endpoint-load-metrics-bin`, unless it is empty or there
  /// is no room for it. Set it from one task at a time: a change reads the report and then sets it.
  public var loadReport: LoadReport {
    get { LoadReport(stream.load) }
    nonmutating set { stream.load = ReportedLoad(newValue) }
  }
}

extension ServerInterceptorContext {
  /// The load that the server reports to the call's client with the status: see `ServerCallContext.loadReport`.
  public var loadReport: LoadReport {
    get { LoadReport(stream.load) }
    nonmutating set { stream.load = ReportedLoad(newValue) }
  }
}

/// The report that a call stores. It is an object, because few calls report any load.
private final class ReportedLoad: Sendable {
  let report: LoadReport

  init(_ report: LoadReport) { self.report = report }
}

extension LoadReport {
  /// The report that a call stores; an empty one if there is none.
  package init(_ kept: (any CallLoad)?) {
    self = (kept as? ReportedLoad)?.report ?? LoadReport()
  }
}

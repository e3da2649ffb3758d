/// The calls of a cluster are reported to the control plane that has sent the cluster.
struct ReportRule: Hashable, Sendable {
  let server: ServerID
  /// What is said of servers.
  let metrics: MetricRule
}

import SwitchboardBalancing
import SwitchboardText

// Names that select nothing. A program may have metrics of its own, so only those are mistaken that look like the library's.
extension MetricSelection {
  /// The metrics of calls, of connections, of balancing, of control planes and of the telemetry itself.
  static let metricNames =
    ["started", "duration", "sent_total_compressed_message_size", "rcvd_total_compressed_message_size"]
    .flatMap { ["grpc.server.call.\($0)", "grpc.client.attempt.\($0)"] }
    + ["duration", "retries", "transparent_retries", "hedges", "retry_delay"].map { "grpc.client.call.\($0)" }
    + [
      "connection_attempts_succeeded", "connection_attempts_failed", "disconnections", "open_connections",
    ].map { "grpc.subchannel.\($0)" }
    + ["connection_attempts_succeeded", "connection_attempts_failed", "disconnections"]
    .map { "grpc.lb.pick_first.\($0)" }
    + ["rr_fallback", "endpoint_weight_not_yet_usable", "endpoint_weight_stale", "endpoint_weights"]
    .map { "grpc.lb.wrr.\($0)" }
    + ["connected", "server_failure", "resource_updates_valid", "resource_updates_invalid", "resources"]
    .map { "grpc.xds_client.\($0)" }
    + [
      "server.connections", "server.connections_failed", "server.blocked_loops", "peer_abuses",
      "telemetry.dropped",
    ].map { "switchboard.\($0)" }

  static let labelNames = [
    MetricLabel.locality, MetricLabel.backendService, MetricLabel.securityLevel, MetricLabel.disconnectError,
  ]

  /// What the log says of the names.
  var remarks: [String] {
    [
      Self.remarks(on: enabled, "metrics.enabled", "metric", Self.metricNames),
      Self.remarks(on: disabled, "metrics.disabled", "metric", Self.metricNames),
      Self.remarks(on: optionalLabels, "metrics.optionalLabels", "optional label", Self.labelNames),
    ].flatMap(\.self)
  }

  private static func remarks(
    on names: Set<String>,
    _ option: String,
    _ what: String,
    _ known: [String]
  ) -> [String] {
    names.sorted().compactMap { name in
      let start = name.utf8.last == UInt8(ascii: "*") ? Substring(name.utf8.dropLast()) : nil
      let isKnown = known.contains { one in
        if let start { one.utf8.starts(with: start.utf8) } else { one.utf8.elementsEqual(name.utf8) }
      }
      guard !isKnown else { return nil }
      let near = NearNames(of: name, in: known).best
      guard near != nil || ["grpc.", "switchboard."].contains(where: { name.utf8.starts(with: $0.utf8) })
      else {
        return nil
      }
      let hint = near.map { " (did you mean \($0)?)" } ?? ""
      return "\(option) names no \(what): \(name.excerpt(100))\(hint)"
    }
  }
}

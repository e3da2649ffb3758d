import SwitchboardCall

/// Where the components of a channel record metrics: the channel's telemetry, and the labels that the components share.
///
/// ```swift
/// let retired = Instrument("example.retired", .counter, unit: "{server}", "servers that are no longer used")
/// let series = host.metrics?.series(of: retired)  // once, when the policy begins
/// series?.record(1)  // for each event
/// ```
public struct MetricScope: Sendable {
  private let recorder: any MetricRecorder
  private var labels: [String: String]

  package init(_ recorder: any MetricRecorder, _ labels: [String: String]) {
    self.recorder = recorder
    self.labels = labels
  }

  /// Identifies the telemetry: what shares it may share what records.
  package var telemetry: ObjectIdentifier { ObjectIdentifier(recorder) }

  /// The scope of a part of the component, whose series have one more label, or another value of it.
  public func labelled(_ name: String, _ value: String) -> MetricScope {
    var scope = self
    scope.labels[name] = value
    return scope
  }

  /// The series of an instrument with those of the scope's labels that the instrument has. `nil` if the instrument is off.
  /// Finding it takes time: ask once, and keep it.
  public func series(of instrument: Instrument) -> (any MetricSeries)? {
    recorder.series(of: instrument, labels)
  }
}

/// The values that an instrument has recorded with the same labels. Any thread may use it; it never blocks for long.
public protocol MetricSeries: AnyObject, Sendable {
  /// Records values, one after the other.
  func record(_ values: [Double])
}

extension MetricSeries {
  /// Records a value.
  public func record(_ value: Double) { record([value]) }
}

/// Telemetry, as components see it.
package protocol MetricRecorder: AnyObject, Sendable {
  /// The series of an instrument with these labels, others of which are ignored. `nil` if the instrument is off.
  func series(of instrument: Instrument, _ labels: [String: String]) -> (any MetricSeries)?
}

/// The locality of an endpoint: the label `grpc.lb.locality` of the metrics of calls to it (gRFC A78).
public enum EndpointLocality: EndpointAttribute {
  /// Any text, such as `eu-1`.
  public typealias Value = String
}

/// The service that an endpoint belongs to, where one channel reaches several: the label `grpc.lb.backend_service` of the
/// metrics of calls to it (gRFC A89).
public enum EndpointBackendService: EndpointAttribute {
  /// Any text, such as the name of a cluster.
  public typealias Value = String
}

/// The names of labels that gRPC defines for balancing and for clients of control planes.
package enum MetricLabel {
  package static let target = "grpc.target"
  package static let locality = "grpc.lb.locality"
  package static let backendService = "grpc.lb.backend_service"
  package static let securityLevel = "grpc.security_level"
  package static let disconnectError = "grpc.disconnect_error"
  package static let detectionMethod = "grpc.lb.outlier_detection.detection_method"
  package static let unenforcedReason = "grpc.lb.outlier_detection.unenforced_reason"
  package static let controlPlane = "grpc.xds.server"
  package static let resourceType = "grpc.xds.resource_type"
  package static let resourceAuthority = "grpc.xds.authority"
  package static let cacheState = "grpc.xds.cache_state"
}

extension EndpointAttributes {
  /// The labels of calls to an endpoint.
  var metricLabels: [String: String] {
    var labels: [String: String] = [:]
    labels[MetricLabel.locality] = self[EndpointLocality.self]
    labels[MetricLabel.backendService] = self[EndpointBackendService.self]
    return labels
  }
}

extension [Endpoint] {
  /// The labels that all endpoints share.
  var commonMetricLabels: [String: String] {
    guard var labels = first?.attributes.metricLabels, !labels.isEmpty else { return [:] }
    for endpoint in dropFirst() {
      let others = endpoint.attributes.metricLabels
      labels = labels.filter { others[$0.key] == $0.value }
    }
    return labels
  }
}

import OTLPMessages
import SwitchboardProtobuf

typealias OTLPTraceRequest = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceRequest
typealias OTLPTraceResponse = Opentelemetry_Proto_Collector_Trace_V1_ExportTraceServiceResponse
typealias OTLPMetricsRequest = Opentelemetry_Proto_Collector_Metrics_V1_ExportMetricsServiceRequest
typealias OTLPMetricsResponse = Opentelemetry_Proto_Collector_Metrics_V1_ExportMetricsServiceResponse
typealias OTLPLogsRequest = Opentelemetry_Proto_Collector_Logs_V1_ExportLogsServiceRequest
typealias OTLPLogsResponse = Opentelemetry_Proto_Collector_Logs_V1_ExportLogsServiceResponse

/// A batch as a message of OTLP.
enum OTLPRequest: Sendable {
  case traces(OTLPTraceRequest)
  case metrics(OTLPMetricsRequest)
  case logs(OTLPLogsRequest)

  init(_ batch: ExportBatch, _ resource: Resource, _ encoder: OTLPEncoder) {
    switch batch {
    case .spans(let spans):
      self = .traces(
        .with {
          $0.resourceSpans = [
            .with {
              $0.resource = encoder.resource(resource)
              $0.scopeSpans = [
                .with {
                  $0.scope = encoder.scope
                  $0.spans = spans.map(encoder.span)
                }
              ]
            }
          ]
        }
      )
    case .metrics(let snapshot):
      self = .metrics(
        .with {
          $0.resourceMetrics = [
            .with {
              $0.resource = encoder.resource(resource)
              $0.scopeMetrics = [
                .with {
                  $0.scope = encoder.scope
                  $0.metrics = snapshot.families.map { encoder.metric($0, snapshot) }
                }
              ]
            }
          ]
        }
      )
    case .logs(let records):
      self = .logs(
        .with {
          $0.resourceLogs = [
            .with {
              $0.resource = encoder.resource(resource)
              $0.scopeLogs = [
                .with {
                  $0.scope = encoder.scope
                  $0.logRecords = records.map(encoder.record)
                }
              ]
            }
          ]
        }
      )
    }
  }

  var message: any Message {
    switch self {
    case .traces(let message): message
    case .metrics(let message): message
    case .logs(let message): message
    }
  }
}

/// What a collector answers to a batch that it has taken at least in part.
protocol OTLPResponse: Message {
  /// What it has rejected of the batch, and why.
  var rejected: (count: Int64, message: String) { get }
}

extension OTLPTraceResponse: OTLPResponse {
  var rejected: (count: Int64, message: String) {
    (partialSuccess.rejectedSpans, partialSuccess.errorMessage)
  }
}

extension OTLPMetricsResponse: OTLPResponse {
  var rejected: (count: Int64, message: String) {
    (partialSuccess.rejectedDataPoints, partialSuccess.errorMessage)
  }
}

extension OTLPLogsResponse: OTLPResponse {
  var rejected: (count: Int64, message: String) {
    (partialSuccess.rejectedLogRecords, partialSuccess.errorMessage)
  }
}

extension ExportResult {
  init(_ response: some OTLPResponse) {
    let (count, message) = response.rejected
    self = .taken(rejected: Int(clamping: max(0, count)), message: message)
  }
}

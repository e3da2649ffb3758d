import OTLPMessages

extension OTLPEncoder {
  func metric(_ family: MetricFamily, _ snapshot: MetricSnapshot) -> OTLPMetric {
    .with { metric in
      metric.name = family.descriptor.name
      metric.description_p = family.descriptor.description
      metric.unit = family.descriptor.unit
      switch family.descriptor.kind {
      case .counter, .upDownCounter:
        metric.sum = .with { sum in
          sum.aggregationTemporality = .cumulative
          sum.isMonotonic = family.descriptor.kind == .counter
          sum.dataPoints = family.points.map { number($0, snapshot) }
        }
      case .gauge:
        metric.gauge = .with { $0.dataPoints = family.points.map { number($0, snapshot) } }
      case .histogram:
        metric.histogram = .with { histogram in
          histogram.aggregationTemporality = .cumulative
          histogram.dataPoints = family.points.map { self.histogram($0, snapshot) }
        }
      }
    }
  }

  private func number(
    _ point: MetricPoint,
    _ snapshot: MetricSnapshot
  ) -> Opentelemetry_Proto_Metrics_V1_NumberDataPoint {
    .with { message in
      message.attributes = attributes(point.attributes)
      message.startTimeUnixNano = snapshot.start
      message.timeUnixNano = snapshot.date
      switch point.value {
      case .int(let int): message.asInt = Int64(int)
      case .double(let double): message.asDouble = double
      case .histogram(let histogram): message.asDouble = histogram.sum ?? 0
      }
    }
  }

  private func histogram(
    _ point: MetricPoint,
    _ snapshot: MetricSnapshot
  ) -> Opentelemetry_Proto_Metrics_V1_HistogramDataPoint {
    .with { message in
      message.attributes = attributes(point.attributes)
      message.startTimeUnixNano = snapshot.start
      message.timeUnixNano = snapshot.date
      guard case .histogram(let value) = point.value else { return }
      message.count = value.count
      if let sum = value.sum { message.sum = sum }
      message.bucketCounts = value.counts
      message.explicitBounds = value.bounds
      message.exemplars = value.exemplars.sorted { $0.key < $1.key }.map { _, exemplar in
        .with {
          $0.asDouble = exemplar.value
          $0.timeUnixNano = exemplar.date
          $0.traceID = identity(exemplar.traceID)
          $0.spanID = identity(exemplar.spanID)
        }
      }
    }
  }
}

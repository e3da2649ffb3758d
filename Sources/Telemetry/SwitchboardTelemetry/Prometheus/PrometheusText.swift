/// A type in `Accept`, and how much it is liked, from 0, which is not at all, to 1.
private struct MediaRange {
  let type: String
  let quality: Double

  init(_ text: Substring) {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed.lowercased() }
    type = parts.first ?? ""
    let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
    quality = (0...1).contains(weight) ? weight : 0
  }
}

/// Writes metrics in Prometheus' formats.
struct PrometheusText {
  enum Format {
    /// The format that every version reads.
    case plain
    /// OpenMetrics, which has exemplars.
    case openMetrics

    /// The format that a scraper likes best. OpenMetrics has to be named.
    init(accept: String) {
      let ranges = accept.split(separator: ",").map(MediaRange.init)
      func quality(_ type: String) -> Double? { ranges.filter { $0.type == type }.map(\.quality).max() }
      let openMetrics = quality("application/openmetrics-text") ?? 0
      self = openMetrics > 0 && openMetrics >= quality("text/plain") ?? 0 ? .openMetrics : .plain
    }

    var contentType: String {
      switch self {
      case .plain: "text/plain; version=0.0.4; charset=utf-8"
      case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
      }
    }
  }

  private let format: Format
  private var text = ""

  /// The page, and the metrics that are not on it. Different names may become the same in Prometheus, which then rejects
  /// the whole page: the first metric keeps them, and the others are left out.
  static func text(
    _ snapshot: MetricSnapshot,
    _ resource: Resource,
    _ format: Format
  ) -> (text: String, missing: [String]) {
    var writer = PrometheusText(format: format)
    writer.writeTarget(resource)
    var taken: Set<String> = ["target", "target_info"]
    var missing: [String] = []
    for family in snapshot.families {
      let names = names(of: family.descriptor)
      guard taken.isDisjoint(with: names) else {
        missing.append(family.descriptor.name)
        continue
      }
      taken.formUnion(names)
      writer.write(family)
    }
    if format == .openMetrics { writer.text += "# EOF\n" }
    return (writer.text, missing)
  }

  private init(format: Format) {
    self.format = format
  }

  private mutating func writeTarget(_ resource: Resource) {
    let name = format == .openMetrics ? "target" : "target_info"
    text +=
      "# HELP \(name) Attributes of the process.\n# TYPE \(name) \(format == .openMetrics ? "info" : "gauge")\n"
    write("target_info", pairs(resource.attributes.sortedAttributes).joined(separator: ","), "1")
  }

  private mutating func write(_ family: MetricFamily) {
    let descriptor = family.descriptor
    let name = Self.name(of: descriptor)
    let suffix = descriptor.kind == .counter ? "_total" : ""
    // OpenMetrics names the family of a counter without its suffix.
    let shown = format == .openMetrics ? name : name + suffix
    let type =
      switch descriptor.kind {
      case .counter: "counter"
      case .gauge, .upDownCounter: "gauge"
      case .histogram: "histogram"
      }
    if !descriptor.description.isEmpty {
      text += "# HELP \(shown) \(Self.escaped(descriptor.description, quotes: format == .openMetrics))\n"
    }
    text += "# TYPE \(shown) \(type)\n"
    for (labels, value) in series(of: family) {
      switch value {
      case .int(let value): write(name + suffix, labels, "\(value)")
      case .double(let value): write(name + suffix, labels, Self.number(value))
      case .histogram(let value): write(value, name, labels)
      }
    }
  }

  /// The labels and values of a family's series. Different attributes may become the same labels: these count together.
  private func series(of family: MetricFamily) -> [(labels: String, value: MetricPoint.Value)] {
    var places: [[String]: Int] = [:]
    var series: [(labels: String, value: MetricPoint.Value)] = []
    for point in family.points {
      let pairs = pairs(point.attributes)
      // For Prometheus, labels have no order, and one without text is none.
      let identity = pairs.filter { !$0.hasSuffix("=\"\"") }.sorted()
      if let place = places[identity] {
        series[place].value = series[place].value.joined(with: point.value, family.descriptor.kind)
      } else {
        places[identity] = series.count
        series.append((pairs.joined(separator: ","), point.value))
      }
    }
    return series
  }

  private mutating func write(_ histogram: HistogramValue, _ name: String, _ labels: String) {
    var total: UInt64 = 0
    let comma = labels.isEmpty ? "" : ","
    for (index, count) in histogram.counts.enumerated() {
      total += count
      let bound = index < histogram.bounds.count ? Self.number(histogram.bounds[index]) : "+Inf"
      var value = "\(total)"
      if format == .openMetrics, let exemplar = histogram.exemplars[index] {
        value +=
          " # {trace_id=\"\(exemplar.traceID)\",span_id=\"\(exemplar.spanID)\"} \(Self.number(exemplar.value))"
        value += " \(Self.seconds(exemplar.date))"
      }
      write("\(name)_bucket", "\(labels)\(comma)le=\"\(bound)\"", value)
    }
    if let sum = histogram.sum { write("\(name)_sum", labels, Self.number(sum)) }
    write("\(name)_count", labels, "\(total)")
  }

  private mutating func write(_ name: String, _ labels: String, _ value: String) {
    text += name
    if !labels.isEmpty {
      text += "{"
      text += labels
      text += "}"
    }
    text += " "
    text += value
    text += "\n"
  }

  // MARK: Names

  /// All names of a metric, in either format. OpenMetrics reserves some that are not written here.
  private static func names(of descriptor: MetricDescriptor) -> Set<String> {
    let name = name(of: descriptor)
    let suffixes =
      switch descriptor.kind {
      case .counter: ["", "_total", "_created"]
      case .gauge, .upDownCounter: [""]
      case .histogram: ["", "_bucket", "_sum", "_count", "_created"]
      }
    return Set(suffixes.map { name + $0 })
  }

  /// The name with its unit, as OpenTelemetry maps names to Prometheus.
  private static func name(of descriptor: MetricDescriptor) -> String {
    var name = safe(descriptor.name, colons: true)
    if let unit = unit(descriptor.unit), !name.hasSuffix("_\(unit)") { name += "_\(unit)" }
    if descriptor.kind == .counter, name.hasSuffix("_total") { name.removeLast("_total".count) }
    return name.isEmpty ? "_" : name
  }

  private static func unit(_ unit: String) -> String? {
    switch unit {
    case "s": "seconds"
    case "ms": "milliseconds"
    case "us": "microseconds"
    case "ns": "nanoseconds"
    case "By": "bytes"
    case "KiBy": "kibibytes"
    case "MiBy": "mebibytes"
    case "%": "percent"
    case "Cel": "celsius"
    default: nil
    }
  }

  /// The name with only letters, digits and underscores, not beginning with a digit.
  private static func safe(_ name: String, colons: Bool) -> String {
    var safe = ""
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"):
        safe.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        if safe.isEmpty { safe = "_" }
        safe.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: ":") where colons: safe += ":"
      default: if safe.last != "_" { safe += "_" }
      }
    }
    return safe.isEmpty ? "_" : safe
  }

  /// The name of a label. Prometheus rejects the whole page if a label begins with two underscores, or if a bucket has
  /// `le` twice.
  private static func label(_ key: String) -> String {
    let name = safe(key, colons: false)
    return name.hasPrefix("__") ? "key\(name)" : name == "le" || name == "quantile" ? "key_\(name)" : name
  }

  /// The labels. Attributes whose names become the same in Prometheus share one label.
  private func pairs(_ attributes: [Attribute]) -> [String] {
    var order: [String] = []
    var values: [String: String] = [:]
    for attribute in attributes {
      let name = Self.label(attribute.key)
      let value = attribute.value.description
      if let known = values[name] {
        values[name] = "\(known);\(value)"
      } else {
        order.append(name)
        values[name] = value
      }
    }
    return order.map { "\($0)=\"\(Self.escaped(values[$0] ?? ""))\"" }
  }

  // MARK: Values

  private static func escaped(_ value: String, quotes: Bool = true) -> String {
    var escaped = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\"" where quotes: escaped += "\\\""
      case "\n": escaped += "\\n"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  private static func number(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func seconds(_ nanoseconds: UInt64) -> String {
    let millis = String(nanoseconds / 1_000_000 % 1000)
    return "\(nanoseconds / 1_000_000_000).\(String(repeating: "0", count: 3 - millis.count))\(millis)"
  }
}

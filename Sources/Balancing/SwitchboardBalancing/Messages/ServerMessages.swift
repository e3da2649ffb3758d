// text: load reports, whose names are bounded when they are read

import SwitchboardCall
import SwitchboardText

/// The messages of `grpc.health.v1.Health`.
package enum HealthMessages {
  package static let watch = MethodDescriptor(
    service: "grpc.health.v1.Health",
    method: "Watch",
    type: .serverStreaming
  )

  /// `HealthCheckRequest`.
  package static func request(_ service: String) -> [UInt8] {
    var writer = FieldWriter()
    if !service.isEmpty { writer.add(1, Array(service.utf8)) }
    return writer.bytes
  }

  /// The name of the status in a `HealthCheckResponse`. `nil` if the bytes are not such a message.
  package static func status(_ bytes: [UInt8]) -> String? {
    var reader = FieldReader(bytes[...])
    var status: UInt64 = 0
    while let field = reader.next() {
      if field.number == 1, case .varint(let value) = field.value { status = value }
    }
    guard !reader.isBroken else { return nil }
    let names = ["UNKNOWN", serving, "NOT_SERVING", "SERVICE_UNKNOWN"]
    return status < UInt64(names.count) ? names[Int(status)] : "\(status)"
  }

  package static let serving = "SERVING"
}

/// The messages of `xds.service.orca.v3.OpenRcaService`.
package enum LoadReportMessages {
  package static let stream = MethodDescriptor(
    service: "xds.service.orca.v3.OpenRcaService",
    method: "StreamCoreMetrics",
    type: .serverStreaming
  )

  /// The trailer that contains a call's report.
  package static let trailer: StaticString = "endpoint-load-metrics-bin"

  /// `OrcaLoadReportRequest`, which asks for reports at an interval.
  package static func request(every interval: Duration) -> [UInt8] {
    let (seconds, attoseconds) = interval.components
    var duration = FieldWriter()
    duration.add(1, UInt64(clamping: seconds))
    duration.add(2, UInt64(clamping: attoseconds / 1_000_000_000))
    var writer = FieldWriter()
    writer.add(1, duration.bytes)
    return writer.bytes
  }
}

extension LoadReport {
  /// A report with more names is none: a server may send them in two bytes each, and compressed, and a client's loop reads them.
  static let nameLimit = 8192
  /// What has a longer name is left out.
  static let nameLengthLimit = 1024

  /// Reads an `OrcaLoadReport`. `nil` if the bytes are not such a message, or have too many names. A value that is not a number, or negative
  /// where that makes no sense, counts as not reported.
  package init?(serializedBytes bytes: [UInt8]) {
    self.init()
    var reader = FieldReader(bytes[...])
    var names = 0
    while let field = reader.next() {
      if field.number == 4 || field.number == 5 || field.number == 8 { names += 1 }
      guard names <= Self.nameLimit else { return nil }
      switch field.number {
      case 1: Self.set(&cpuUtilization, field.value)
      case 2: Self.set(&memoryUtilization, field.value)
      case 4: Self.add(field.value, to: &requestCost)
      case 5: Self.add(field.value, to: &utilization)
      case 6: Self.set(&queriesPerSecond, field.value)
      case 7: Self.set(&errorsPerSecond, field.value)
      case 8: Self.add(field.value, to: &namedMetrics)
      case 9: Self.set(&applicationUtilization, field.value)
      default: break
      }
    }
    if reader.isBroken { return nil }
    self = valid
  }

  private static func set(_ target: inout Double, _ value: FieldReader.Value) {
    if let number = value.double { target = number }
  }

  private static func add(_ value: FieldReader.Value, to target: inout [String: Double]) {
    guard var entry = value.message else { return }
    var (bytes, number) = (ArraySlice<UInt8>(), 0.0)
    while let field = entry.next() {
      if field.number == 1, case .bytes(let found) = field.value { bytes = found }
      if field.number == 2 { set(&number, field.value) }
    }
    guard !entry.isBroken, bytes.count <= nameLengthLimit else { return }
    let name = String(decoding: bytes, as: UTF8.self)
    // Names are keys of a dictionary.
    if !name.hasLongRunOfMarks { target[name] = number }
  }

  /// An `OrcaLoadReport` with the valid values.
  package var serializedBytes: [UInt8] {
    let valid = valid
    var writer = FieldWriter()
    writer.add(1, valid.cpuUtilization)
    writer.add(2, valid.memoryUtilization)
    writer.add(4, valid.requestCost)
    writer.add(5, valid.utilization)
    writer.add(6, valid.queriesPerSecond)
    writer.add(7, valid.errorsPerSecond)
    writer.add(8, valid.namedMetrics)
    writer.add(9, valid.applicationUtilization)
    return writer.bytes
  }
}

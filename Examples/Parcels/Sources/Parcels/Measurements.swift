import Foundation
import Switchboard
import SwitchboardTelemetry

/// Telemetry, if the environment asks for it.
func measurements() throws -> Telemetry? {
  let environment = ProcessInfo.processInfo.environment
  guard environment.keys.contains(where: { $0.hasPrefix("OTEL_") }) else { return nil }
  // Says what is wrong with the variables.
  let logger = Logger(LineLog(), minimumLevel: .warning)
  return try Telemetry(TelemetryOptions(environment: environment, logger: logger))
}

import EchoService
import EchoTestSupport
import Switchboard
import SwitchboardTelemetry

/// A service whose calls fail if their text says so.
struct FailingEcho: EchoingProvider {
  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    if request.text == "fail" { throw GRPCStatus(code: .aborted, message: "as it was asked to") }
    return .with { $0.text = request.text }
  }
}

/// Real calls, and what the telemetry counts of them.
struct TotalsOfCalls {
  let telemetry: Telemetry
  private let client: Echo_EchoClient

  init() async throws {
    telemetry = try Telemetry(TelemetryOptions(serviceName: "test"))
    var options = ServerOptions()
    options.observer = telemetry.observer()
    client = Echo_EchoClient(channel: try Channel(inProcess: [FailingEcho()], options: options))
  }

  /// The totals of the method after so many calls more.
  func after(calls: Int, failures: Int) async throws -> MethodTotals {
    for _ in 0..<calls { _ = try await client.get(.with { $0.text = "x" }) }
    for _ in 0..<failures {
      do { _ = try await client.get(.with { $0.text = "fail" }) } catch {}
    }
    return telemetry.totals(ofServers: true).first ?? .none
  }

  func end() async { await telemetry.shutDown() }
}

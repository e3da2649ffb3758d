import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardTelemetry

/// Echoes; with a next client, as that does. A text of `fail` fails; one of `wait` waits to be cancelled.
struct TracedEcho: EchoingProvider {
  var next: Echo_EchoClient?
  var seen: (@Sendable (ServerCallContext) -> Void)?
  var inTasks: (@Sendable (ServerCallContext) async -> Void)?

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    seen?(context)
    await inTasks?(context)
    if request.text == "fail" { throw GRPCStatus(code: .aborted, message: "no") }
    if request.text == "wait", next == nil { try await Task.sleep(for: .seconds(60)) }
    if let next { return try await next.get(request) }
    return .with { $0.text = request.text }
  }
}

/// Runs `body` with a client of a server.
func withEcho(
  _ provider: some Echo_EchoProvider,
  server serverObserver: (any CallObserver)?,
  client clientObserver: (any CallObserver)?,
  configure: (inout ServerOptions, inout ChannelOptions) -> Void = { _, _ in },
  _ body: (Echo_EchoClient, String) async throws -> Void
) async throws {
  var options = ServerOptions()
  options.observer = serverObserver
  var channelOptions = ChannelOptions()
  channelOptions.observer = clientObserver
  configure(&options, &channelOptions)
  try await withPair([provider], options: options, channel: channelOptions) { pair async throws in
    try await body(Echo_EchoClient(channel: pair.channel), "\(pair.address)")
  }
}

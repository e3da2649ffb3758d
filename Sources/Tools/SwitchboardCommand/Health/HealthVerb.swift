import Switchboard
import SwitchboardProtobuf
import SwitchboardServices

/// The verb `health`: asks a server whether it is serving, for people and for probes.
enum HealthVerb {
  static let watch = Flag("-w", "--watch", help: "Keep running, and write each change.")
  static let quiet = Flag("-q", "--quiet", help: "Write nothing: the exit code is the answer.")
  static let deadline = TargetFlags.deadline(
    help: "Give up after TIME; the default is 3s, or no limit with --watch."
  )

  static let verb = Verb(
    "health",
    summary: "ask whether a server, or one of its services, is serving",
    usage: ["TARGET [SERVICE] [--watch] [FLAG]..."],
    details: [
      "Asks grpc.health.v1.Health. The exit code is 0 if the server is serving, 14 (UNAVAILABLE) if it is not, 5 (NOT_FOUND) "
        + "for a service that it does not know, and otherwise that of the call's status, so it can serve as a "
        + "container's probe."
    ],
    operands: [
      .target,
      Operand(
        "SERVICE",
        isOptional: true,
        completion: .services,
        "The full name of a service; without it, the server as a whole."
      ),
    ],
    flags: [FlagGroup("Health", [watch, quiet, deadline]), TargetFlags.group],
    flagRules: [.unused([quiet], beside: watch, "is there to write each change")],
    examples: [
      Example("health localhost:50051", "Is the server serving?"),
      Example("health unix:/run/shop.sock shop.Shop -q -t 1s", "A probe of a service, as an exit code only."),
      Example("health shop.example --watch", "Watch a server over TLS."),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let target = try Target(arguments)
    let isWatching = arguments.has(watch)
    var options = CallOptions()
    options.initialMetadata = target.metadata
    options.timeout = try arguments.duration(deadline) ?? (isWatching ? nil : .seconds(3))
    let channel = try target.channel()
    let client = Grpc_Health_V1_HealthClient(channel: channel, defaultCallOptions: options)
    let request = Grpc_Health_V1_HealthCheckRequest.with { $0.service = arguments.operand(1) ?? "" }
    do {
      if isWatching { return try await follow(client, request) }
      let status = try await client.check(request).status
      if !arguments.has(quiet) { try show(status) }
      return code(status)
    } catch let status as GRPCStatus {
      throw failure(status, target, request.service)
    }
  }

  private static func follow(
    _ client: Grpc_Health_V1_HealthClient,
    _ request: Grpc_Health_V1_HealthCheckRequest
  ) async throws -> ExitCode {
    let call = client.makeWatchCall(request)
    let interrupts = await Interrupts { call.cancel() }
    defer { interrupts.stop() }
    do {
      for try await answer in call.responseStream { try show(answer.status) }
    } catch let status as GRPCStatus {
      if interrupts.isInterrupted { return .interrupted }
      throw status
    }
    return .success
  }

  private static func show(_ status: Grpc_Health_V1_HealthCheckResponse.ServingStatus) throws {
    let paint = Painter(Terminal.current())
    let style: Style = status == .serving ? .good : status == .notServing ? .bad : .warning
    try Output.write(paint(style, name(status)))
  }

  private static func name(_ status: Grpc_Health_V1_HealthCheckResponse.ServingStatus) -> String {
    switch status {
    case .unknown: "UNKNOWN"
    case .serving: "SERVING"
    case .notServing: "NOT_SERVING"
    case .serviceUnknown: "SERVICE_UNKNOWN"
    case .UNRECOGNIZED(let number): "\(number)"
    }
  }

  private static func code(_ status: Grpc_Health_V1_HealthCheckResponse.ServingStatus) -> ExitCode {
    switch status {
    case .serving: .success
    case .serviceUnknown: .status(.notFound)
    default: .status(.unavailable)
    }
  }

  private static func failure(_ status: GRPCStatus, _ target: Target, _ service: String) -> Failure {
    switch status.code {
    case .notFound where !service.isEmpty:
      Failure("\(target.text) does not know the health of '\(service)'", code: .status(.notFound))
    case .unimplemented where status.isAboutMethod:
      Failure("\(target.text) has no health service", code: .status(.unimplemented))
    default: target.failure(status)
    }
  }
}

import Switchboard
import SwitchboardProtobuf
import XDSMessages

/// The verb `xds`: shows what a process has got from control planes.
enum XDSVerb {
  static let json = Flag("--json", help: "Write JSON, with each resource whose types are known.")

  static let verb = Verb(
    "xds",
    summary: "show what a process has got from control planes, as a tree",
    usage: ["TARGET [--json] [FLAG]..."],
    details: [
      "Asks envoy.service.status.v3.ClientStatusDiscoveryService, known as CSDS, of a client of any implementation. It shows "
        + "each xds: target: its listener, routes, clusters and endpoints; whether the latest version of each is used, why not, "
        + "and which older one is used instead."
    ],
    operands: [.target],
    flags: [FlagGroup("Output", [json]), TargetFlags.group],
    examples: [
      Example("xds localhost:50052", "The config of each xds: target of a process."),
      Example("xds localhost:50052 --json", "The same for a script."),
    ],
    run
  )

  /// A control plane's config may be large.
  private static let sizeLimit = 256 << 20

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let target = try Target(arguments)
    var options = CallOptions(timeout: .seconds(30), initialMetadata: target.metadata)
    options.responseSizeLimit = sizeLimit
    let service = Envoy_Service_Status_V3_ClientStatusDiscoveryServiceClient(
      channel: try target.channel(),
      defaultCallOptions: options
    )
    let answer: Envoy_Service_Status_V3_ClientStatusResponse
    do {
      answer = try await service.fetchClientStatus(Envoy_Service_Status_V3_ClientStatusRequest())
    } catch let status as GRPCStatus {
      guard status.isAboutMethod else { throw target.failure(status) }
      throw Failure("\(target.text) has no CSDS service", code: .status(.unimplemented))
    }
    let paint = Painter(Terminal.current())
    if arguments.has(json) {
      try Output.write(JSONPainter(paint, isPretty: true).text(of: Array(XDSDocument(answer).json.utf8)))
    } else if answer.config.isEmpty {
      try Output.write("no xds: targets")
    } else {
      try Output.write(answer.config.flatMap { XDSTree($0, paint).lines }.joined(separator: "\n"))
    }
    return .success
  }
}

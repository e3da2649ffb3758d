import Switchboard
import SwitchboardConsole
import SwitchboardServices

/// The verb `console`: a page that shows what a server tells of itself.
enum ConsoleVerb {
  static let port = Flag(
    "--port",
    value: "PORT",
    help: "Serve the page at this port of 127.0.0.1; without it, at a free one."
  )
  static let allowCalls = Flag(
    "--allow-calls",
    help: "Let the page call the server's methods, with the metadata of -H. Without it, the page only shows."
  )

  static let verb = Verb(
    "console",
    summary: "show what a server does, and call its methods, in a browser",
    usage: ["TARGET [--port PORT] [--allow-calls] [FLAG]..."],
    details: [
      "Serves a page, and writes the link that opens it. It shows what a server of any implementation tells of itself: its "
        + "health, its calls and connections by channelz, and its methods by reflection. What it does not tell, the page says. "
        + "A server of this library shows more with a console of its own.",
      "Only this machine can reach the page, and the link has its token: whoever has that can do as much as this command.",
    ],
    operands: [.target],
    flags: [FlagGroup("Page", [port, allowCalls]), TargetFlags.group],
    examples: [
      Example("console localhost:50051", "Show a server."),
      Example(
        "console shop.example --allow-calls -H @headers.txt",
        "Call its methods with the metadata of a file."
      ),
    ],
    run
  )

  private static func run(_ arguments: Arguments) async throws -> ExitCode {
    let target = try Target(arguments)
    let number = try arguments.integer(port, in: 0...65535) ?? 0
    let channel = try target.channel()
    try await check(target, channel)
    var options = ConsoleOptions()
    // The link is written here.
    options.logger = .quiet
    if arguments.has(allowCalls) { options.permissions = .everyone([.call]) }
    let server = RemoteServer(channel, target, address: target.text, usesTLS: target.usesTLS)
    let console = try Console(of: server, options: options)
    let address: SocketAddress
    do {
      address = try console.serve(port: number)
    } catch {
      let message = error.message ?? "\(error)"
      let isTaken = message.contains("address already in use")
      throw Failure(
        ShownText(message),
        hints: isTaken ? ["'\(port.name) 0' takes a free port."] : [],
        code: .status(error.code)
      )
    }
    try await Interrupts.first { try Output.write("the console is at \(console.link(to: address))") }
    await console.shutDown()
    return .success
  }

  /// Throws if nothing answers, so that nobody looks at an empty page. A server needs no health checks.
  private static func check(_ target: Target, _ channel: Channel) async throws {
    var options = CallOptions()
    options.initialMetadata = target.metadata
    options.timeout = .seconds(15)
    let client = Grpc_Health_V1_HealthClient(channel: channel, defaultCallOptions: options)
    do {
      _ = try await client.check(Grpc_Health_V1_HealthCheckRequest())
    } catch let status as GRPCStatus where status.code == .unavailable {
      throw target.failure(status)
    } catch let status as GRPCStatus where status.code == .unimplemented && !target.lacksMethod(status) {
      throw target.failure(status)
    } catch {
      // Whatever else it says, it answers.
    }
  }
}

import Dispatch
import Foundation
import Switchboard
import SwitchboardConsole
import SwitchboardTelemetry

/// Serves the workload until the process receives a signal to end.
struct BenchServer {
  private let port: Int
  private let isSecure: Bool
  private let isLowLatency: Bool
  private let loops: Int
  private let reusesPort: Bool
  private let placement: HandlerPlacement
  private let servesWeb: Bool
  private let setsAllocator: Bool
  private let countsCalls: Bool
  private let hasConsole: Bool

  init(_ arguments: inout Arguments) throws {
    port = try arguments.nextNumber("PORT")
    isSecure = arguments.take(.tls)
    isLowLatency = arguments.take(.lowLatency)
    loops = arguments.take(.twoLoops) ? 2 : 1
    reusesPort = arguments.take(.reusePort)
    setsAllocator = arguments.take(.openSSLAllocator)
    let (inThreads, inPool) = (arguments.take(.inThreads), arguments.take(.inPool))
    placement = inThreads ? .threads : inPool ? .executor(globalConcurrentExecutor) : .loop
    servesWeb = arguments.take(.web)
    let countsOnly = arguments.take(.metrics)
    hasConsole = arguments.take(.console)
    countsCalls = countsOnly || hasConsole
    try arguments.end()
  }

  func run() async throws {
    if setsAllocator { try TLSMemory.setOpenSSLAllocator() }
    var options = ServerOptions()
    // It is attacked, and what is measured is not its log.
    options.logger = .quiet
    // Some runs of the workload have a thousand concurrent calls on one connection.
    options.maxConcurrentStreams = 2048
    if isSecure { options.tls = ServerTLS(credentials: BenchTLS.credentials) }
    options.lowLatency = isLowLatency
    options.reusePort = reusesPort
    options.handlerPlacements.standard = placement
    if servesWeb {
      options.web = WebOptions()
      options.payloadFormats = [JSONFormat()]
    }
    let telemetry = countsCalls ? try Telemetry(Self.telemetryOptions) : nil
    options.observer = telemetry?.observer()
    let group = try LoopGroup(count: loops)
    let server = try Server(providers: [BenchProvider()], options: options, group: group)
    let address = try server.bind(host: "0.0.0.0", port: port)
    let console = hasConsole ? try Self.console(of: server, telemetry) : nil
    // Not earlier: sources that are released before they were resumed end the process.
    let terminated = TerminationSignals()
    print("listening on \(address)")
    fflush(nil)  // a program that reads this through a pipe waits for it
    await terminated.first()
    await console?.shutDown()
    await server.shutDown(grace: .seconds(1))
  }

  private static var telemetryOptions: TelemetryOptions {
    var options = TelemetryOptions(serviceName: "benchmark")
    options.tracesCalls = false
    options.exporters = [.spans { _ in }]
    return options
  }

  /// Prints the link to it.
  private static func console(of server: Server, _ telemetry: Telemetry?) throws -> Console {
    var options = ConsoleOptions()
    options.logger = .quiet
    let console = try Console(telemetry: telemetry, options: options)
    console.add(server, name: "bench")
    let address = try console.serve(port: 0)
    print("console at \(console.link(to: address))")
    return console
  }
}

/// Waits for a signal to end the process.
private struct TerminationSignals {
  private let sources = [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    return DispatchSource.makeSignalSource(signal: number)
  }

  func first() async {
    let signals = AsyncStream { continuation in
      for source in sources {
        source.setEventHandler { continuation.yield() }
        source.resume()
      }
    }
    for await _ in signals { break }
    // This also retains them: a released source fires no more.
    for source in sources { source.cancel() }
  }
}

import Foundation
import Switchboard
import SwitchboardConsole
import SwitchboardTelemetry

/// Two services, a trace across them, a page of metrics, and a console.
@main
struct Observed {
  static func main() async {
    do {
      try await run(keepsServing: CommandLine.arguments.contains("--serve"))
    } catch {
      FileHandle.standardError.write(Data("Observed: \(GRPCStatus(describing: error))\n".utf8))
      exit(1)
    }
  }

  private static func run(keepsServing: Bool) async throws {
    let tree = TraceTree()
    // OTEL_* variables say where telemetry goes; without any, it stays here.
    let environment = ProcessInfo.processInfo.environment
    var options = TelemetryOptions(serviceName: "shop")
    if environment.keys.contains(where: { $0.hasPrefix("OTEL_") }) {
      options = TelemetryOptions(environment: environment, logger: Logger(LineLog(), minimumLevel: .warning))
    }
    options.exporters.append(.spans { tree.add($0) })
    let telemetry = try Telemetry(options)
    let log = TelemetryLog(telemetry, format: .logfmt)

    var serverOptions = ServerOptions()
    serverOptions.observer = telemetry.observer()
    serverOptions.logger = Logger(log, minimumLevel: .info)
    let prices = try Server(providers: [Prices()], options: serverOptions)
    let pricesAddress = try prices.bind(host: "127.0.0.1", port: 0)

    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry.observer(passingOn: [.deadline, .cancellation])
    let toPrices = try Channel(target: "\(pricesAddress)", options: channelOptions)
    let checkout = Checkout(
      prices: Shop_PricesClient(channel: toPrices),
      telemetry: telemetry,
      orders: telemetry.metrics.counter("shop.orders", unit: "{order}", "orders that were added up")
    )
    serverOptions.pages = [telemetry.metricsPage()]
    let server = try Server(providers: [checkout], options: serverOptions)
    let address = try server.bind(host: "127.0.0.1", port: 0)

    let toCheckout = try Channel(target: "\(address)", options: channelOptions)
    let client = Shop_CheckoutClient(channel: toCheckout)
    let total = try await client.total(.with { $0.things = ["kettle", "tea"] })
    print("total: \(total.cents)")
    do {
      _ = try await client.total(.with { $0.things = ["tea", "unicorn", "cup"] })
    } catch {
      print("failed: \(GRPCStatus(describing: error))")
    }

    await telemetry.flush()
    print("\ntraces:")
    tree.show()
    print("\nmetrics:")
    let shown = [
      "shop_orders_total", "grpc_server_call_started_total", "grpc_server_call_duration_seconds_count",
    ]
    for line in telemetry.metricsText().text.split(separator: "\n")
    where shown.contains(where: line.hasPrefix) {
      print(line)
    }
    let page = "\(address)".replacingOccurrences(of: "ipv4:", with: "http://")
    if keepsServing {
      let console = try Console(telemetry: telemetry)
      console.add(server, name: "checkout")
      console.add(prices, name: "prices")
      console.add(toPrices, name: "to the prices")
      let consoleAddress = try console.serve(port: 0)
      print("\nmetrics: \(page)/metrics")
      print("console: \(console.link(to: consoleAddress))")
      fflush(nil)
      let load = Task { await Load(client: client).run() }
      try await server.run()
      load.cancel()
      await console.shutDown()
    }
    for channel in [toCheckout, toPrices] { await channel.shutDown(grace: .zero) }
    for server in [server, prices] { await server.shutDown(grace: .zero) }
    await telemetry.shutDown()
  }
}

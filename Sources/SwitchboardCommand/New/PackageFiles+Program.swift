extension PackageFiles {
  private var library: String { "\(name.type)Service" }
  private var prefix: String { PackageFiles.prefix(of: name.proto) }

  var main: String { hasServer ? serverAndClient : client }

  private var serverAndClient: String {
    """
    import Foundation
    import \(library)
    import Switchboard

    // \(name.type) serve [PORT]            serves until Ctrl-C
    // \(name.type) call HOST:PORT NAME...   greets people by a server
    // \(name.type)                         does both, once
    let words = CommandLine.arguments.dropFirst()

    \(doOrPrintError("try await run()"))

    func run() async throws {
      switch words.first {
      case "serve":
        let server = try Server(providers: [GreeterProvider()])
        let port = words.dropFirst().first.flatMap { Int($0) } ?? 50051
        let address = try server.bind(host: "127.0.0.1", port: port)
        await server.run {
          print("listening on \\(address)")
          fflush(nil)
        }
      case "call":
        let names = Array(words.dropFirst(2))
        try await call(words.dropFirst().first ?? "127.0.0.1:50051", names.isEmpty ? ["Ada"] : names)
      default:
        let server = try Server(providers: [GreeterProvider()])
        let address = try server.bind(host: "127.0.0.1", port: 0)
        try await call("\\(address)", ["Ada", "Ben"])
        await server.shutDown()
      }
    }

    \(callFunction)
    """
  }

  private var client: String {
    """
    import Foundation
    import \(library)
    import Switchboard

    // \(name.type) HOST:PORT NAME...   greets people by a server
    let words = CommandLine.arguments.dropFirst()
    let names = Array(words.dropFirst())

    \(doOrPrintError(#"try await call(words.first ?? "127.0.0.1:50051", names.isEmpty ? ["Ada"] : names)"#))

    \(callFunction)
    """
  }

  /// An uncaught error would end the program with a register dump.
  private func doOrPrintError(_ statement: String) -> String {
    """
    do {
      \(statement)
    } catch {
      FileHandle.standardError.write(Data("\(name.type): \\(GRPCStatus(describing: error))\\n".utf8))
      exit(1)
    }
    """
  }

  private var callFunction: String {
    """
    func call(_ target: String, _ names: [String]) async throws {
      var options = ChannelOptions()
      options.logger = .quiet  // The program prints its error itself.
      let channel = try Channel(target: target, options: options)
      let log = \(prefix)GreeterClientInterceptors(greet: { [RequestLog()] })
      let client = \(prefix)GreeterClient(channel: channel, interceptors: log)
      for text in try await greetings(for: names, from: client) { print(text) }
      for try await reply in client.repeat(.with { $0.name = "everyone"; $0.times = 2 }) { print(reply.text) }
      await channel.shutDown()
    }

    """
  }

  var makefile: String {
    """
    .PHONY: build run test

    build:
    \tswift build

    run:
    \tswift run \(name.type)

    test:
    \tswift test --disable-xctest

    """
  }

  var readme: String {
    let sides =
      hasServer
      ? """
      - `Sources/\(library)/GreeterProvider.swift` serves it
      - `Sources/\(library)/Greetings.swift` calls it
      """ : "- `Sources/\(library)/Greetings.swift` calls it"
    let server =
      hasServer
      ? """
      `make run` starts the server and calls it. To have them apart:

      ```
      swift run \(name.type) serve 50051
      swift run \(name.type) call 127.0.0.1:50051 Ada
      ```

      The command asks it, too:

      ```
      switchboard call localhost:50051 \(name.proto).Greeter/Greet -d '{"name": "Ada"}' \\
        --proto Sources/\(library)/\(name.proto).proto
      ```
      """
      : """
      It needs a server, which `switchboard mock` can stand in for:

      ```
      switchboard mock Sources/\(library)/\(name.proto).proto
      make run
      ```
      """
    return """
      # \(name.package)

      A gRPC service in Swift, made by `switchboard new`.

      - `Sources/\(library)/\(name.proto).proto` describes the service: each build generates Swift from it
      \(sides)
      - `Sources/\(library)/RequestLog.swift` is an interceptor of the client
      - `Sources/\(name.type)/main.swift` is the program
      - `Tests` has a test with the generated client for tests, which makes no connection

      \(server)

      `make test` runs the test. The libraries that Switchboard needs are in its README.

      """
  }
}

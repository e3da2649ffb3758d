extension PackageFiles {
  var main: String {
    switch shape {
    case .production: productionMain
    case .minimal: serverAndClient
    case .clientOnly: client
    }
  }

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
        try await server.run {
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
  func doOrPrintError(_ statement: String) -> String {
    """
    do {
      \(statement)
    } catch {
      FileHandle.standardError.write(Data("\(name.type): \\(GRPCStatus(describing: error))\\n".utf8))
      exit(1)
    }
    """
  }

  var callFunction: String {
    let (parameter, calls, argument) =
      shape == .production
      ? (
        ", key: String",
        "\n  var calls = CallOptions()"
          + "\n  calls.initialMetadata.add(name: \"authorization\", value: \"Bearer \\(key)\")",
        ", defaultCallOptions: calls"
      ) : ("", "", "")
    return """
      func call(_ target: String, _ names: [String]\(parameter)) async throws {
        var options = ChannelOptions()
        options.logger = .quiet  // The program prints its error itself.
        let channel = try Channel(target: target, options: options)
        let log = \(prefix)GreeterClientInterceptors(greet: { [RequestLog()] })\(calls)
        let client = \(prefix)GreeterClient(channel: channel\(argument), interceptors: log)
        for text in try await greetings(for: names, from: client) { print(text) }
        for try await reply in client.repeat(.with { $0.name = "everyone"; $0.times = 2 }) { print(reply.text) }
        await channel.shutDown()
      }

      """
  }

  var makefile: String {
    """
    .PHONY: build run test\(shape == .production ? " image" : "")

    build:
    \tswift build

    run:
    \tswift run \(name.type)

    test:
    \tswift test --disable-xctest\(shape == .production ? imageTarget : "")

    """
  }
}

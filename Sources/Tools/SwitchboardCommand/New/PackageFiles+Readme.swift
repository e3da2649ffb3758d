extension PackageFiles {
  var readme: String {
    let sides =
      hasServer
      ? """
      - `Sources/\(library)/GreeterProvider.swift` serves it
      - `Sources/\(library)/Greetings.swift` calls it
      """ : "- `Sources/\(library)/Greetings.swift` calls it"
    return """
      # \(name.package)

      A gRPC service in Swift, made by `switchboard new`.

      - `Sources/\(library)/\(name.proto).proto` describes the service: each build generates Swift from it
      \(sides)
      - `Sources/\(library)/RequestLog.swift` is an interceptor of the client
      - `Sources/\(name.type)/main.swift` is the program
      - `Tests` has tests, which make no connection\(shape == .production ? productionParts : "")

      \(running)

      `make test` runs the test. The libraries that Switchboard needs are in its README.

      """
  }

  /// How the program is run.
  private var running: String {
    switch shape {
    case .production: runningInProduction
    case .minimal: runningBoth
    case .clientOnly: runningWithMock
    }
  }

  private var runningBoth: String {
    """
    `make run` starts the server and calls it. To have them apart:

    ```
    swift run \(name.type) serve 50051
    swift run \(name.type) call 127.0.0.1:50051 Ada
    ```

    The command asks it, too:

    ```
    switchboard call localhost:50051 \(service)/Greet -d '{"name": "Ada"}' \\
      --proto Sources/\(library)/\(name.proto).proto
    ```
    """
  }

  private var runningWithMock: String {
    """
    It needs a server, which `switchboard mock` can stand in for:

    ```
    switchboard mock Sources/\(library)/\(name.proto).proto
    make run
    ```
    """
  }
}

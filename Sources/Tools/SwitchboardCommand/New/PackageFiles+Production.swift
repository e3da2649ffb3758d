/// What a server in production has, and the least one does not: health, reflection, a guard, telemetry, and an end that
/// lets calls finish.
extension PackageFiles {
  var productionFiles: [File] {
    [
      File(path: "Sources/\(library)/KeyGuard.swift", text: keyGuard),
      File(path: "Sources/\(library)/Backend.swift", text: backend),
      File(path: "Tests/\(name.type)Tests/KeyGuardTests.swift", text: guardTests),
      File(path: "Dockerfile", text: dockerfile),
      File(path: ".dockerignore", text: ".build/\n.git/\nheaders.txt\n"),
      File(path: "kubernetes.yaml", text: kubernetes),
    ]
  }

  private var keyGuard: String {
    """
    import Switchboard

    /// Lets callers pass that have the key.
    public struct KeyGuard: ServerGuard {
      private let expected: [UInt8]

      public init(key: String) { expected = Array("Bearer \\(key)".utf8) }

      public func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {
        let given = Array((headers.first(name: "authorization") ?? "").utf8)
        // Compared to the end, so that the time does not say where they differ.
        var difference = given.count ^ expected.count
        for (left, right) in zip(given, expected) { difference |= Int(left ^ right) }
        guard difference == 0 else {
          throw GRPCStatus(code: .unauthenticated, message: "the key is missing or wrong")
        }
      }
    }

    """
  }

  private var backend: String {
    """
    import Switchboard
    import SwitchboardServices

    /// What the program serves, and with which options. Tests use the same, without a network.
    public struct Backend: Sendable {
      public let health = HealthService()
      public let providers: [any CallHandlerProvider]
      public let options: ServerOptions

      /// Callers need this key.
      public init(key: String) throws {
        let described: [any CallHandlerProvider] = [GreeterProvider(KeyGuard(key: key)), health]
        providers = described + [try ReflectionService(describing: described)]
        var options = ServerOptions()
        // With a method that nobody guards, the server does not start. Probes bring no key; without the reflection of
        // the last two, tools would need the .proto file.
        options.requiredInterceptors = RequiredInterceptors(
          [KeyGuard.self],
          except: [
            "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
            "grpc.reflection.v1alpha.ServerReflection",
          ]
        )
        self.options = options
      }

      /// Says that the service takes calls. When the server shuts down, health says that it takes no more.
      public func becomeReady() {
        health.set(.serving, for: \(prefix)GreeterMetadata.service.name)
      }
    }

    """
  }

  private var guardTests: String {
    """
    import \(library)
    import Switchboard
    import SwitchboardServices
    import Testing

    /// Calls the whole backend, within this process.
    private func withBackend<Result: Sendable>(_ body: (Channel) async throws -> Result) async throws -> Result {
      let backend = try Backend(key: "secret")
      backend.becomeReady()
      let channel = try Channel(inProcess: backend.providers, options: backend.options)
      let result = try await body(channel)
      await channel.shutDown()
      return result
    }

    private func greet(authorization: String?, on channel: Channel) async throws -> String {
      var options = CallOptions()
      if let authorization { options.initialMetadata.add(name: "authorization", value: authorization) }
      let client = \(prefix)GreeterClient(channel: channel, defaultCallOptions: options)
      return try await client.greet(.with { $0.name = "Ada" }).text
    }

    @Test func callersWithTheKeyAreGreeted() async throws {
      let text = try await withBackend { try await greet(authorization: "Bearer secret", on: $0) }
      #expect(text == "Hello, Ada!")
    }

    @Test(arguments: [nil, "", "secret", "Bearer", "Bearer secreT", "Bearer secretsecret"])
    func strangersAreRefused(_ authorization: String?) async throws {
      try await withBackend { channel in
        let error = await #expect(throws: GRPCStatus.self) {
          try await greet(authorization: authorization, on: channel)
        }
        #expect(error?.code == .unauthenticated)
      }
    }

    @Test func probesNeedNoKey() async throws {
      let status = try await withBackend { channel in
        try await Grpc_Health_V1_HealthClient(channel: channel).check(.with { $0.service = "\(service)" }).status
      }
      #expect(status == .serving)
    }

    """
  }

  var productionMain: String {
    """
    import Foundation
    import \(library)
    import Switchboard
    import SwitchboardServices
    import SwitchboardTelemetry

    // \(name.type) serve [PORT] [HOST]      serves until Ctrl-C or SIGTERM; callers need the key in API_KEY
    // \(name.type) call HOST:PORT NAME...   greets people by a server, with that key
    // \(name.type) probe [HOST:PORT]        ends with 0 if a server takes calls, for containers
    // \(name.type)                          serves and calls, once
    let words = CommandLine.arguments.dropFirst()
    let environment = ProcessInfo.processInfo.environment

    \(doOrPrintError("try await run()"))

    func run() async throws {
      let operands = Array(words.dropFirst())
      switch words.first {
      case "serve":
        let text = operands.first ?? "50051"
        guard let port = Int(text) else {
          throw GRPCStatus(code: .invalidArgument, message: "\\(text) is not a port")
        }
        try await serve(host: operands.dropFirst().first ?? "127.0.0.1", port: port, key: try key())
      case "call":
        let names = Array(operands.dropFirst())
        let target = operands.first ?? "127.0.0.1:50051"
        try await call(target, names.isEmpty ? ["Ada"] : names, key: try key())
      case "probe": try await probe(operands.first ?? "127.0.0.1:50051")
      case nil: try await serveAndCall()
      case let other?: throw GRPCStatus(code: .invalidArgument, message: "\\(other) is not serve, call or probe")
      }
    }

    /// The key of callers. A server without one does not start, instead of letting everyone in.
    func key() throws -> String {
      guard let key = environment["API_KEY"], !key.isEmpty else {
        throw GRPCStatus(code: .failedPrecondition, message: "API_KEY is not set: it is the key that callers need")
      }
      return key
    }

    func serve(host: String, port: Int, key: String) async throws {
      let backend = try Backend(key: key)
      var options = backend.options
      let telemetry = try makeTelemetry()
      options.observer = telemetry?.observer()
      let server = try Server(providers: backend.providers, options: options)
      let address = try server.bind(host: host, port: port)
      // On a signal, health says so, and calls in progress may finish. Kubernetes ends a process after 30 s.
      try await server.run(grace: .seconds(20)) {
        backend.becomeReady()
        print("listening on \\(address)")
        fflush(nil)
      }
      await telemetry?.shutDown()
    }

    /// Telemetry is on if a variable of OpenTelemetry is set, such as OTEL_EXPORTER_OTLP_ENDPOINT.
    func makeTelemetry() throws -> Telemetry? {
      guard environment.keys.contains(where: { $0.hasPrefix("OTEL_") }) else { return nil }
      let logger = Logger(LineLog(), minimumLevel: .warning)
      var options = TelemetryOptions(environment: environment, logger: logger)
      if environment["OTEL_SERVICE_NAME"] == nil { options.resource.serviceName = "\(name.package)" }
      return try Telemetry(options)
    }

    func serveAndCall() async throws {
      let key = UUID().uuidString
      let backend = try Backend(key: key)
      let server = try Server(providers: backend.providers, options: backend.options)
      let address = try server.bind(host: "127.0.0.1", port: 0)
      try await call("\\(address)", ["Ada", "Ben"], key: key)
      await server.shutDown()
    }

    func probe(_ target: String) async throws {
      var options = ChannelOptions()
      options.logger = .quiet  // The program prints its error itself.
      let channel = try Channel(target: target, options: options)
      var calls = CallOptions()
      calls.timeout = .seconds(2)
      let client = Grpc_Health_V1_HealthClient(channel: channel, defaultCallOptions: calls)
      let status = try await client.check(.with { $0.service = "\(service)" }).status
      await channel.shutDown()
      guard status == .serving else { throw GRPCStatus(code: .unavailable, message: "it is \\(status)") }
    }

    \(callFunction)
    """
  }
}

/// The files of a new package.
struct PackageFiles {
  struct File: Hashable {
    let path: String
    let text: String
  }

  /// What a package is for.
  enum Shape: Sendable {
    /// What a server in production needs.
    case production
    /// The least that serves and calls.
    case minimal
    case clientOnly
  }

  let name: PackageName
  /// The dependency, as in the manifest.
  let dependency: PackageDependency
  let shape: Shape

  var hasServer: Bool { shape != .clientOnly }
  var library: String { "\(name.type)Service" }
  /// The full name of the service.
  var service: String { "\(name.proto).Greeter" }
  var prefix: String { PackageFiles.prefix(of: name.proto) }
  private var target: String { name.type }
  private var packageName: String { SwiftText.literal(dependency.name) }

  /// The prefix of types in a `.proto` package: `my_greeter` has `MyGreeter_`.
  static func prefix(of proto: String) -> String {
    proto.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined() + "_"
  }

  var all: [File] {
    var files = [
      File(path: "Package.swift", text: manifest),
      File(path: "README.md", text: readme),
      File(path: "Makefile", text: makefile),
      File(path: ".gitignore", text: ".build/\nheaders.txt\n"),
      File(path: "Sources/\(library)/\(name.proto).proto", text: proto),
      File(path: "Sources/\(library)/switchboard.json", text: configuration),
      File(path: "Sources/\(library)/RequestLog.swift", text: interceptor),
      File(path: "Sources/\(library)/Greetings.swift", text: greetings),
      File(path: "Sources/\(target)/main.swift", text: main),
      File(path: "Tests/\(target)Tests/GreetingsTests.swift", text: tests),
      File(path: "Tests/\(target)Tests/switchboard.json", text: testConfiguration),
    ]
    if hasServer { files.append(File(path: "Sources/\(library)/GreeterProvider.swift", text: provider)) }
    if shape == .production { files += productionFiles }
    return files
  }

  private var manifest: String {
    """
    // swift-tools-version: 6.1
    import PackageDescription

    let runtime = Target.Dependency.product(name: "Switchboard", package: \(packageName))
    let testClients = Target.Dependency.product(name: "SwitchboardTesting", package: \(packageName))
    \(products.declarations)
    let package = Package(
      name: "\(name.package)",
      platforms: [.macOS("26.0")],
      dependencies: [
        \(dependency.declaration)
      ],
      targets: [
        .target(
          name: "\(library)",
          dependencies: [runtime\(products.ofLibrary)],
          plugins: [.plugin(name: "SwitchboardPlugin", package: \(packageName))]
        ),
        .executableTarget(name: "\(target)", dependencies: ["\(library)", runtime\(products.ofProgram)]),
        .testTarget(
          name: "\(target)Tests",
          dependencies: ["\(library)", runtime, testClients\(products.ofLibrary)],
          plugins: [.plugin(name: "SwitchboardPlugin", package: \(packageName))]
        ),
      ],
      swiftLanguageModes: [.v6]
    )

    """
  }

  /// The products that only servers in production use.
  private var products: (declarations: String, ofLibrary: String, ofProgram: String) {
    guard shape == .production else { return ("", "", "") }
    let declarations = [("services", "Services"), ("telemetry", "Telemetry")].map { name, product in
      "let \(name) = Target.Dependency.product(name: \"Switchboard\(product)\", package: \(packageName))\n"
    }
    return (declarations.joined(), ", services", ", services, telemetry")
  }

  private var proto: String {
    """
    syntax = "proto3";

    package \(name.proto);

    service Greeter {
      // Greets one person.
      rpc Greet(GreetRequest) returns (GreetReply);
      // Greets the person some times.
      rpc Repeat(RepeatRequest) returns (stream GreetReply);
    }

    message GreetRequest { string name = 1; }
    message RepeatRequest {
      string name = 1;
      uint32 times = 2;
    }
    message GreetReply { string text = 1; }

    """
  }

  private var configuration: String {
    """
    {
      "options": {
        "Visibility": "Public",
        "Server": \(hasServer),
        "ReflectionData": \(hasServer)
      }
    }

    """
  }

  /// The clients for tests are no part of the program.
  private var testConfiguration: String {
    """
    {
      "protos": ["../../Sources/\(library)/\(name.proto).proto"],
      "includes": ["../../Sources/\(library)"],
      "options": { "TestClientOf": "\(library)" }
    }

    """
  }

  private var provider: String {
    """
    import Switchboard

    /// Serves greetings.
    public struct GreeterProvider: \(prefix)GreeterProvider {
    \(shape == .production ? guarded : unguarded)
      public func greet(
        request: \(prefix)GreetRequest,
        context: ServerCallContext
      ) async throws -> \(prefix)GreetReply {
        guard !request.name.isEmpty else {
          throw GRPCStatus(code: .invalidArgument, message: "the name is empty")
        }
        return .with { $0.text = "Hello, \\(request.name)!" }
      }

      public func `repeat`(
        request: \(prefix)RepeatRequest,
        responseStream: ResponseStreamWriter<\(prefix)GreetReply>,
        context: ServerCallContext
      ) async throws {
        for number in 1...max(1, min(request.times, 1000)) {
          try await responseStream.send(.with { $0.text = "\\(number): Hello, \\(request.name)!" })
        }
      }
    }

    """
  }

  private var unguarded: String {
    """
      public init() {}

      public var interceptors: Interceptors? { nil }

    """
  }

  private var guarded: String {
    """
      private let keyGuard: KeyGuard

      public init(_ keyGuard: KeyGuard) { self.keyGuard = keyGuard }

      public var interceptors: Interceptors? { \(prefix)GreeterServerInterceptors(keyGuard) }

    """
  }

  private var interceptor: String {
    """
    import Switchboard

    /// Prints each greeting that is asked for: an interceptor sees the types of the call that it is made for.
    public final class RequestLog: ClientInterceptor<\(prefix)GreetRequest, \(prefix)GreetReply> {
      public override func send(
        _ part: GRPCClientRequestPart<\(prefix)GreetRequest>,
        promise: EventLoopPromise<Void>?,
        context: ClientInterceptorContext<\(prefix)GreetRequest, \(prefix)GreetReply>
      ) {
        if case .message(let request, _) = part { print("greeting \\(request.name)") }
        context.send(part, promise: promise)
      }
    }

    """
  }

  private var greetings: String {
    """
    import Switchboard

    /// Greets several people. It takes any client of the service, so that tests can pass one that makes no connection.
    public func greetings(
      for names: [String],
      from client: some \(prefix)GreeterClientProtocol
    ) async throws -> [String] {
      var texts: [String] = []
      for name in names {
        texts.append(try await client.greet(.with { $0.name = name }).text)
      }
      return texts
    }

    """
  }

  private var tests: String {
    """
    import \(library)
    import Switchboard
    import Testing

    @Test func everyoneIsGreeted() async throws {
      let client = try \(prefix)GreeterTestClient()
      client.enqueueGreetResponse(.with { $0.text = "Hello, Ada!" })
      client.enqueueGreetResponse(.with { $0.text = "Hello, Ben!" })
      let texts = try await greetings(for: ["Ada", "Ben"], from: client)
      #expect(texts == ["Hello, Ada!", "Hello, Ben!"])
      #expect(!client.hasGreetResponsesRemaining)
    }

    """
  }
}

/// Servers, providers and the contexts of handlers.
enum ServerRules {
  static let all = providers + contexts + descriptors + servers + builders

  private static let providers: [Rule] = [
    .change("*AsyncProvider", to: "${stem}Provider"),
    .change("GRPCAsyncServerCallContext", to: "ServerCallContext"),
    .change("GRPCAsyncRequestStream", to: "RequestStream"),
    .change("GRPCAsyncResponseStreamWriter", to: "ResponseStreamWriter"),
    .advise("StatusOnlyCallContext", futures),
    .advise("UnaryResponseCallContext", futures),
    .advise("StreamingResponseCallContext", futures),
    .advise("StreamEvent", "An async method reads requests with: for try await request in requestStream"),
    .advise(".responsePromise", "An async method returns the response."),
    .advise(".statusPromise", "An async method returns, or throws a GRPCStatus."),
    .advise(".sendResponse", "Use try await responseStream.send(_:)."),
    .advise(".sendResponses", "Use try await responseStream.send(_:) for each."),
    .advise(
      "CallHandlerProvider",
      "Generated providers conform to it. By hand: ServiceHandlers (docs/guide/Marshallers.md).",
      // Switchboard has a type of this name, too.
      if: .imports("GRPC")
    ),
  ]

  private static let futures =
    "Handlers are async here: func get(request:context: ServerCallContext) async throws -> Response, with requestStream: RequestStream<_> and responseStream: ResponseStreamWriter<_> where the call streams."

  private static let contexts: [Rule] = [
    .change("context.request.headers", to: "context.headers"),
    .change("context.request.logger", to: "context.logger"),
    .change("$effects context.response.setHeaders($headers)", to: "context.setInitialMetadata($headers)"),
    .change("$effects context.response.setTrailers($trailers)", to: "context.setTrailers($trailers)"),
    .change("$effects context.response.compressResponses(true)", to: "context.setCompression(.gzip)"),
    .change("$effects context.response.compressResponses(false)", to: "context.setCompression(.none)"),
    .change(
      "$effects context.acceptRPC(headers: $headers)",
      to: "context.setInitialMetadata($headers)\ncontext.sendInitialMetadata()",
      if: .beginsLine
    ),
    .advise("acceptRPC", "Use context.setInitialMetadata(_:) and context.sendInitialMetadata()."),
    .change("$effects context.withUserInfo { $INFO[$key] }", to: "context.userInfo[$key]"),
    .change(
      "$effects context.withMutableUserInfo { $INFO[$key] = $value }",
      to: "context.userInfo[$key] = $value"
    ),
    .advise("withUserInfo", "Use context.userInfo[Key.self]."),
    .advise("withMutableUserInfo", "Use context.userInfo[Key.self] = value."),
  ]

  /// What the generator says about a service: once, and not for clients and servers apart.
  private static let descriptors: [Rule] = ["ClientMetadata", "ServerMetadata"].flatMap { kind in
    [("path", "path"), ("name", "method"), ("type", "type")].map { there, here in
      Rule.change(
        "*\(kind).Methods.$METHOD.\(there)",
        to: "${stem}Metadata.Methods.$METHOD.descriptor.\(here)"
      )
    } + [
      .advise(
        "*\(kind).Methods.$METHOD.fullName",
        "Use SMetadata.Methods.name.descriptor, which has 'service', 'method' and 'path'."
      ),
      .change("*\(kind).Methods", to: "${stem}Metadata.Methods"),
      .change("*\(kind).serviceDescriptor.fullName", to: "${stem}Metadata.service.name"),
      .advise(
        "*\(kind).serviceDescriptor.name",
        "Use SMetadata.service.name, which is the full name, with the package."
      ),
      .change("*\(kind).serviceDescriptor", to: "${stem}Metadata.service"),
    ]
  }

  private static let groups = [
    "MultiThreadedEventLoopGroup.singleton", "NIOSingletons.posixEventLoopGroup", "$group",
  ]
  private static let places = [
    ("host: $host, port: $port", "host: $host, port: $port"),
    ("unixDomainSocketPath: $socket", "unixPath: $socket"),
  ]

  /// Servers that are made, bound and waited for in one expression.
  static let bindings = groups.flatMap { group in places.flatMap { bindings(on: group, at: $0.0) } }

  private static func bindings(on group: String, at place: String) -> [String] {
    ["get", "wait"].map { waiting in
      "Server.insecure(group: \(group)).withServiceProviders($providers).bind(\(place)).\(waiting)()"
    }
  }

  private static let servers: [Rule] =
    groups.flatMap(bound)
    + [
      .advise(
        "Server.insecure",
        "Use try Server(providers:options:group:), then try server.bind(host:port:) with a numeric address or localhost."
      ),
      .advise(
        "Server.usingTLSBackedByNIOSSL",
        "Use try Server(providers:options:group:), with options.tls = ServerTLS(credentials: TLSCredentials(certificateChain: .file(_), privateKey: .file(_)))."
      ),
      .advise(
        "Server.usingTLS",
        "Use try Server(providers:options:group:), with options.tls = ServerTLS(credentials:)."
      ),
      .advise("Server.Builder", "Use ServerOptions, and try Server(providers:options:group:)."),
      .advise(
        "Server.Configuration.default",
        "Use ServerOptions(): the providers go to try Server(providers:options:group:), the target to try server.bind(host:port:)."
      ),
      .advise("Server.Configuration", "Use ServerOptions."),
      .advise("Server.start", "Use try Server(providers:options:group:), then try server.bind(host:port:)."),
      .change(
        "$SERVER.channel.localAddress!.port!",
        to: "${SERVER}Address.port",
        if: .isDeclared("SERVER", as: .server),
        .noNIO
      ),
      .change(
        "$SERVER.channel.localAddress!",
        to: "${SERVER}Address",
        if: .isDeclared("SERVER", as: .server),
        .noNIO
      ),
      .advise(".localAddress", "bind(host:port:) returns the address."),
      .change("$effects $path.onClose.get()", to: "try await $path.run()", if: .noNIO),
      .advise(".onClose", "Use try await server.run(), which also ends on Ctrl-C and SIGTERM."),
      .advise("initiateGracefulShutdown", "Use await server.shutDown(grace: .seconds(10))."),
    ]

  private static func bound(on group: String) -> [Rule] {
    places.flatMap { place, here in
      bindings(on: group, at: place).map { server in
        .change(
          "let $SERVER = $effects \(server)",
          to: "let $SERVER = try Server(providers: $providers\(group == "$group" ? ", group: $group" : ""))\n"
            + "let ${SERVER}Address = try $SERVER.bind(\(here))",
          if: .beginsLine,
          .noNIO
        )
      }
    }
  }

  private static let builders: [Rule] = [
    .advise("reflectionDataFileURLs", "Use ReflectionService(describing: providers), which needs no files."),
    .advise(".withServiceProviders", "Use Server(providers:)."),
    .advise(".withLogger", "Use ServerOptions.logger (for swift-log's: docs/guide/Telemetry.md, 'Bridges')."),
    .advise(
      ".withMaximumReceiveMessageLength",
      "Use ServerOptions.maxRequestSize, or responseSizeLimit of a client."
    ),
    .advise(".withHTTPMaxConcurrentStreams", "Use ServerOptions.maxConcurrentStreams."),
    .advise(
      ".withMessageCompression",
      "Use context.setCompression(_:) for responses; compressed requests are always accepted."
    ),
    .advise(".withCORSConfiguration", "Use ServerOptions.web = WebOptions(origins:)."),
    .advise(
      "ServerConnectionKeepalive",
      "Use keepaliveInterval, keepaliveTimeout and minimumPingInterval of ServerOptions."
    ),
    .advise(
      "ServerErrorDelegate",
      "Let errors conform to GRPCStatusTransformable; others become UNKNOWN, and are logged."
    ),
  ]
}

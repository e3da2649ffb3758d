/// What grpc-swift 2 has.
enum SecondRules {
  static let all = clients + requests + servers + descriptors + values

  private static let clients: [Rule] =
    channels + [
      .change("GRPCCore.", to: "Switchboard.", in: .two),
      .change("$SERVICE.Client(wrapping: $client)", to: "${SERVICE}Client(channel: $client)", in: .two),
      .change("$SERVICE.ClientProtocol", to: "${SERVICE}ClientProtocol", in: .two),
      .change("$SERVICE.SimpleServiceProtocol", to: "${SERVICE}Provider", in: .two),
      .advise("ServiceProtocol", in: .two, forms),
      .advise("StreamingServiceProtocol", in: .two, forms),
      .advise(
        "withGRPCClient",
        in: .two,
        "Use try Channel(target:options:), which connects by itself, and await channel.shutDown()."
      ),
      .advise("runConnections", in: .two, "Leave it out: a channel connects when the first call needs it."),
      .advise(
        "http2NIOPosix",
        in: .two,
        "Use Channel(target:options:), or Server(providers:options:) and bind(host:port:)."
      ),
      .advise(
        "http2NIOTS",
        in: .two,
        "Use Channel(target:options:), or Server(providers:options:) and bind(host:port:)."
      ),
      .change("CallOptions.defaults", to: "CallOptions()", in: .two),
      .change(
        "$OPTIONS.maxResponseMessageBytes",
        to: "$OPTIONS.responseSizeLimit",
        in: .two,
        if: .isDeclared("OPTIONS", as: .callOptions)
      ),
      .advise(
        ".maxResponseMessageBytes",
        in: .two,
        "Of CallOptions: responseSizeLimit. A MethodConfig has it under the same name.",
        if: .importsSecond
      ),
      .advise("executionPolicy", in: .two, "Use repetition: of a MethodConfig."),
      .advise("InProcessTransport", in: .two, "Use Channel(inProcess: [provider])."),
    ]

  /// A client of grpc-swift 2 is what a channel is here.
  private static let channels: [Rule] =
    ["HTTP2ClientTransport.Posix", "HTTP2ClientTransport.TransportServices", "InProcessTransport.Client"]
    .flatMap { transport in
      [
        Rule.change("GRPCClient<\(transport)>", to: "Channel", in: .two, if: .noNIO),
        .change("GRPCClient<\(transport)>", to: "Switchboard.Channel", in: .two),
      ]
    } + [.advise("GRPCClient", in: .two, "Use Channel: try Channel(target:options:).")]

  /// A request is its message, and its metadata are options of the call.
  private static let requests: [Rule] = [
    .change(
      "let $REQUEST = ClientRequest(message: $message, metadata: $metadata)",
      to: "let $REQUEST = $message\nlet ${REQUEST}Options = CallOptions(initialMetadata: $metadata)",
      in: .two,
      if: .isDeclared("REQUEST", as: .requestWithMetadata),
      .beginsLine
    ),
    .change(
      "let $REQUEST = ClientRequest(message: $message)",
      to: "let $REQUEST = $message",
      in: .two,
      if: .isDeclared("REQUEST", as: .request)
    ),
    .change(
      ".$METHOD(request: $REQUEST)",
      to: ".$METHOD($REQUEST, callOptions: ${REQUEST}Options)",
      in: .two,
      if: .isDeclared("REQUEST", as: .requestWithMetadata)
    ),
    .change(
      ".$METHOD(request: $REQUEST)",
      to: ".$METHOD($REQUEST)",
      in: .two,
      if: .isDeclared("REQUEST", as: .request)
    ),
    .change(
      ".$METHOD(request: ClientRequest(message: $message, metadata: $metadata))",
      to: ".$METHOD($message, callOptions: CallOptions(initialMetadata: $metadata))",
      in: .two
    ),
    .change(".$METHOD(request: ClientRequest(message: $message))", to: ".$METHOD($message)", in: .two),
    .advise(
      "ClientRequest",
      in: .two,
      "A call takes the message itself: client.get(message, callOptions: CallOptions(initialMetadata: metadata))."
    ),
    .advise("StreamingClientRequest", in: .two, stream),
    .advise("ClientResponse", in: .two, objects),
    .advise("StreamingClientResponse", in: .two, objects),
  ]

  private static let stream =
    "A call takes a sequence of messages, client.collect(messages), or a closure: client.collect { call in try await call.requestStream.send(message) }"

  private static let objects =
    "A call returns the message, or a stream of messages. A call object has the metadata, too: let call = client.makeGetCall(message)."

  private static let forms =
    "A provider has the forms of SimpleServiceProtocol: SProvider, with messages, RequestStream and ResponseStreamWriter. Metadata is in the context."

  private static let servers: [Rule] = [
    .advise(
      "withGRPCServer",
      in: .two,
      "Use try Server(providers:options:), bind(host:port:), try await run()."
    ),
    .advise("GRPCServer", in: .two, "Use Server: try Server(providers:options:)."),
    .change("$effects $path.serve()", to: "try await $path.run()", in: .two),
    .advise(".serve()", in: .two, "Use try await run().", if: .importsSecond),
    .advise("listeningAddress", in: .two, "bind(host:port:) returns the address."),
    .advise("beginGracefulShutdown", in: .two, "Use await shutDown(grace:)."),
    .change("ServerContext", to: "ServerCallContext", in: .two),
    .change(
      "request: RPCAsyncSequence<$message, any Error>",
      to: "requestStream request: RequestStream<$message>",
      in: .two
    ),
    .change("response: RPCWriter<", to: "responseStream response: ResponseStreamWriter<", in: .two),
    .change("response.write($message)", to: "response.send($message)", in: .two, if: .importsSecond),
    .change("RPCWriter", to: "ResponseStreamWriter", in: .two),
    .advise(
      "$path.write(",
      in: .two,
      "Of a response: try await responseStream.send(_:).",
      if: .importsSecond
    ),
    .advise("RPCAsyncSequence", in: .two, "Use requestStream: RequestStream<_>."),
    .advise("ServerRequest", in: .two, "The message itself; context.headers has the metadata."),
    .advise(
      "ServerResponse",
      in: .two,
      "The message itself; context.setInitialMetadata(_:) and setTrailers(_:) have the metadata."
    ),
    .advise("StreamingServerRequest", in: .two, "Use requestStream: RequestStream<_>."),
    .advise("StreamingServerResponse", in: .two, "Use responseStream: ResponseStreamWriter<_>."),
    .advise("RPCRouter", in: .two, "Use ServiceHandlers."),
    .advise("withRPCCancellationHandler", in: .two, "The handler's task is cancelled."),
    .change("context.cancellation.isCancelled", to: "context.isCancelled", in: .two),
    .advise(
      "context.cancellation",
      in: .two,
      "Use context.isCancelled; the handler's task is cancelled, too: withTaskCancellationHandler."
    ),
    .advise(
      "context.remotePeer",
      in: .two,
      "Use context.peer.address of a ServerCallContext."
    ),
    .advise(
      "context.descriptor",
      in: .two,
      "Use context.method, which has 'service', 'method' and 'path'."
    ),
  ]

  private static let descriptors: [Rule] = [
    .advise(
      "$SERVICE.Method.$METHOD.descriptor",
      in: .two,
      "Use SMetadata.Methods.name.descriptor, with the method's name in lower camel case."
    ),
    .change(
      "$path.descriptor.fullyQualifiedService",
      to: "${path}Metadata.service.name",
      in: .two,
      if: .isGenerated("path")
    ),
    .change("$path.descriptor", to: "${path}Metadata.service", in: .two, if: .isGenerated("path")),
    .change(
      ".provider.updateStatus($status, forService: $service)",
      to: ".set($status, for: $service)",
      in: .two,
      if: .isLiteral("service")
    ),
    .change(
      ".provider.updateStatus($status, forService: $SERVICE.descriptor)",
      to: ".set($status, for: ${SERVICE}Metadata.service.name)",
      in: .two,
      if: .isGenerated("SERVICE")
    ),
    .advise(
      ".updateStatus",
      in: .two,
      "Of a HealthService: health.set(_:for:), with the full name of the service.",
      if: .importsSecond
    ),
  ]

  /// Rules for `metadata` that come before those for its members.
  private static let errors: [Rule] = [
    "$path.metadata[stringValues: $key]", "$path.metadata[binaryValues: $key]", "$path.metadata",
  ].map { pattern in
    .advise(
      pattern,
      in: .two,
      "A GRPCStatus has no metadata: use 'trailingMetadata' of a call object, let call = client.makeGetCall(request).",
      if: .isError("path")
    )
  }

  private static let values: [Rule] =
    errors + [
      .change(
        "RPCError(code: $code, message: $message)",
        to: "GRPCStatus(code: $code, message: $message)",
        in: .two
      ),
      .advise(
        "RPCError(",
        in: .two,
        "Throw GRPCStatus(code:message:), and use context.setTrailers(_:) for metadata."
      ),
      .change("RPCError.Code", to: "GRPCStatus.Code", in: .two),
      .change("RPCError", to: "GRPCStatus", in: .two, if: .notInherited),
      .advise("RPCErrorConvertible", in: .two, "Use GRPCStatusTransformable, with makeGRPCStatus()."),
      .advise(
        "unpackGoogleRPCStatus",
        in: .two,
        "Use status.details(of: Detail.self) of SwitchboardServices."
      ),
      .advise("GoogleRPCStatus", in: .two, "Use GRPCStatus(code:message:details:) of SwitchboardServices."),
      .change("Metadata", to: "HPACKHeaders", in: .two, if: .notInherited, .importsSecond),
      .advise(
        "metadata:",
        in: .two,
        once: true,
        "Of a call: callOptions: CallOptions(initialMetadata:).",
        if: .importsSecond
      ),
      .change(".addString($value, forKey: $key)", to: ".add(name: $key, value: $value)", in: .two),
      .change(".addBinary($value, forKey: $key)", to: ".add(name: $key, binary: $value)", in: .two),
      .change(
        ".replaceOrAddBinary($value, forKey: $key)",
        to: ".replaceOrAdd(name: $key, binary: $value)",
        in: .two
      ),
      .change(
        ".replaceOrAddString($value, forKey: $key)",
        to: ".replaceOrAdd(name: $key, value: $value)",
        in: .two
      ),
      .change(".removeAllValues(forKey: $key)", to: ".remove(name: $key)", in: .two),
      .change("[stringValues: $key]", to: "[$key]", in: .two),
      .change("[binaryValues: $key]", to: "[binary: $key]", in: .two),
      .advise("ClientInterceptor", in: .two, calls, if: .importsSecond),
      .advise("ServerInterceptor", in: .two, calls, if: .importsSecond),
    ]

  private static let calls =
    "An interceptor of whole calls: ClientCallInterceptor or ServerCallInterceptor of SwitchboardInterceptors (docs/guide/Interceptors.md, 'Whole calls')."
}

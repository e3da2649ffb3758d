/// What grpc-swift 2 has.
enum SecondRules {
  static let all = SecondInterceptorRules.all + clients + requests + servers + descriptors + values

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
        transport
      ),
      .advise("http2NIOTS", in: .two, transport),
      .advise("HTTP2ClientTransport", in: .two, "Use try Channel(target:options:), with ChannelOptions."),
      .advise("HTTP2ServerTransport.Posix.Context", in: .two, "Use context.peer of a ServerCallContext."),
      .advise(
        "HTTP2ServerTransport",
        in: .two,
        "Use try Server(providers:options:), with ServerOptions, and bind(host:port:)."
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

  private static let transport =
    "Use Channel(target:options:), or Server(providers:options:) and bind(host:port:)."

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
    .advise(
      "$path.write(",
      in: .two,
      "Of a client's call, whose closure has the call object: client.collect { call in try await call.requestStream.send(message) }; in client.update { call in }, it also reads call.responseStream. Or pass a sequence: client.collect(messages).",
      if: .importsSecond,
      .writes(.requests, "path")
    ),
    .advise(
      "$path.accepted",
      in: .two,
      "A failure is no value: a call, and 'next' in an interceptor, throw the GRPCStatus.",
      if: .importsSecond
    ),
    .advise(
      "$path.bodyParts",
      in: .two,
      "Loop over the messages. 'trailingMetadata' of a call object, or 'trailers()' of a StreamedResponse, has what follows them.",
      if: .importsSecond
    ),
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
    .advise(
      "ServerContext(",
      in: .two,
      "A context is of a call that is made: a test calls the handler over Channel(inProcess: [provider])."
    ),
    .change("ServerContext", to: "ServerCallContext", in: .two),
    .change(
      "request: RPCAsyncSequence<$message, any Error>",
      to: "requestStream request: RequestStream<$message>",
      in: .two
    ),
    .change("response: RPCWriter<", to: "responseStream response: ResponseStreamWriter<", in: .two),
    .change("response.write($message)", to: "response.send($message)", in: .two, if: .importsSecond),
    .advise(
      "RPCWriter",
      in: .two,
      "Of a handler's responses: ResponseStreamWriter<_>. Of a client's requests: RequestStreamWriter<_>."
    ),
    .advise("$path.write(", in: .two, responses, if: .importsSecond, .writes(.responses, "path")),
    .advise(
      "$path.write(",
      in: .two,
      "\(responses) Of a client's request: try await call.requestStream.send(_:).",
      if: .importsSecond
    ),
    .advise("RPCAsyncSequence", in: .two, "Use requestStream: RequestStream<_>."),
    .advise("ServerRequest", in: .two, "The message itself; context.headers has the metadata."),
    .advise(
      "ServerResponse",
      in: .two,
      "The message itself; context.setInitialMetadata(_:) and setTrailers(_:) have the metadata."
    ),
    .advise(
      "StreamingServerRequest",
      in: .two,
      "Use requestStream: RequestStream<_>; context.headers has the metadata."
    ),
    .advise(
      "StreamingServerResponse",
      in: .two,
      "Use responseStream: ResponseStreamWriter<_>; context.setInitialMetadata(_:) and setTrailers(_:) have the metadata."
    ),
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

  private static let responses = "Of a handler's response: try await responseStream.send(_:)."

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
        "\(status) An interceptor of parts passes metadata on with it: .end(status, trailers) (docs/guide/Interceptors.md, 'Parts').",
        if: .inInterceptor
      ),
      .advise(
        "RPCError(",
        in: .two,
        "\(status) A handler sends metadata by context.setTrailers(_:), before it throws the status."
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
        if: .importsSecond,
        .notArgument(of: withMetadata)
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
    ]

  private static let status = "Use GRPCStatus(code:message:), which has no 'metadata:' and no 'cause:'."

  /// What has metadata and is no call: other advice is about most of them, and none about logs.
  private static let withMetadata =
    ["RPCError", "ServerRequest", "ServerResponse", "StreamingServerRequest", "StreamingServerResponse"]
    + ["log", "trace", "debug", "info", "notice", "warning", "error", "critical"]
}

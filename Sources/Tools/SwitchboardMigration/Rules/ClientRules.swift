/// Clients, channels and what they run on.
enum ClientRules {
  static let all = names + calls + pools + connections + groups + types

  /// The same without `Async` or `NIO`, since there is one client.
  private static let names: [Rule] = [
    .change("*AsyncClientProtocol", to: "${stem}ClientProtocol"),
    .change("*AsyncClient", to: "${stem}Client"),
    .change(
      "*NIOClient",
      to: "${stem}Client",
      because: "its methods are async; those that return a call object begin with make, as makeGetCall"
    ),
    .change("GRPCAsyncClientStreamingCall", to: "AsyncClientStreamingCall"),
    .change("GRPCAsyncBidirectionalStreamingCall", to: "AsyncBidirectionalStreamingCall"),
    .change("GRPCAsyncRequestStreamWriter", to: "RequestStreamWriter"),
    .change("GRPCAsyncResponseStream", to: "ResponseStream"),
    .advise(
      "GRPCAnyServiceClient",
      "Use MethodClient (docs/guide/Marshallers.md, 'Services without a .proto')."
    ),
    .advise("FakeChannel", "Use Channel(inProcess:), or CannedAnswers."),
  ]

  /// Call objects of one request have only the type of the response.
  private static let calls: [Rule] = ["AsyncUnaryCall", "AsyncServerStreamingCall"].flatMap { call in
    [
      Rule.change(
        "GRPC\(call)<$request, $response>",
        to: "\(call)<$response>",
        if: .isName("request"),
        .isName("response")
      ),
      .advise("GRPC\(call)<", "Use \(call)<Response>, which has the type of the response only."),
      .change("GRPC\(call)", to: call),
    ]
  }

  private static let plaintext =
    "{ var options = ChannelOptions(); options.security = .plaintext; return options }()"
  private static let secure =
    "{ var options = ChannelOptions(); options.security = .tls(); return options }()"
  private static let local = ["\"localhost\"", "\"127.0.0.1\"", "\"::1\""]

  private static let pools: [Rule] =
    ["MultiThreadedEventLoopGroup.singleton", "NIOSingletons.posixEventLoopGroup", "$group"].flatMap(pool) + [
      .advise(
        "GRPCChannelPool.with",
        "Use try Channel.connect(host:port:options:group:) or try Channel(target:options:group:), with options.security = .plaintext for a host that is not this machine and has no TLS. What the configuration sets is in ChannelOptions; connections are added by themselves, up to maxConnections."
      ),
      .change("GRPCChannelPool.Configuration.TransportSecurity", to: "ChannelSecurity"),
      .advise("GRPCChannelPool.Configuration", "Use ChannelOptions."),
      .advise("GRPCChannelPool", "Use Channel, whose connections are a pool."),
      .change(".tls(.makeClientDefault(compatibleWith: $loop))", to: ".tls()"),
      .advise(
        "GRPCConnectionPoolDelegate",
        "Use ChannelOptions.observer, or channelz (docs/reference/Services.md)."
      ),
      .advise(
        "GRPCConnectionPoolError",
        "Calls fail with a GRPCStatus: .unavailable without a connection, .deadlineExceeded after their timeout."
      ),
    ]

  private static let tls = "transportSecurity: .tls(.makeClientDefault(compatibleWith: $same))"

  /// A pool that is made in one expression.
  private static func pool(on group: String) -> [Rule] {
    let end = group == "$group" ? ", group: $group)" : ")"
    func rule(
      _ target: String,
      _ security: String,
      _ new: String,
      _ options: String = "",
      if isLocal: Bool = false
    ) -> Rule {
      .change(
        "$effects GRPCChannelPool.with(target: \(target), \(security), eventLoopGroup: \(group))",
        to: "$try \(new)\(options.isEmpty ? "" : ", options: \(options)")\(end)",
        if: isLocal ? .isLiteral("host", local) : .noNIO,
        .noNIO,
        because: options == plaintext ? defaultTLS : ""
      )
    }
    let connect = "Channel.connect(host: $host, port: $port"
    let plain = "transportSecurity: .plaintext"
    return [".host($host, port: $port)", ".hostAndPort($host, $port)"].flatMap { target in
      [
        rule(target, plain, connect, if: true), rule(target, plain, connect, plaintext),
        rule(target, tls, connect, secure),
      ]
    } + [rule(".unixDomainSocket($socket)", plain, "Channel(target: \"unix:\" + $socket")]
  }

  private static let defaultTLS = "TLS is the default for hosts other than this machine"

  private static let connections: [Rule] = [
    .change(
      "$effects ClientConnection.insecure(group: $group).connect(host: $host, port: $port)",
      to: "$try Channel.connect(host: $host, port: $port, group: $group)",
      if: .isLiteral("host", local),
      .noNIO
    ),
    .change(
      "$effects ClientConnection.insecure(group: $group).connect(host: $host, port: $port)",
      to: "$try Channel.connect(host: $host, port: $port, options: \(plaintext), group: $group)",
      if: .noNIO,
      because: defaultTLS
    ),
    .change(
      "$effects ClientConnection.usingPlatformAppropriateTLS(for: $group).connect(host: $host, port: $port)",
      to: "$try Channel.connect(host: $host, port: $port, options: \(secure), group: $group)",
      if: .noNIO
    ),
    .change(
      "$effects ClientConnection.usingTLSBackedByNIOSSL(on: $group).connect(host: $host, port: $port)",
      to: "$try Channel.connect(host: $host, port: $port, options: \(secure), group: $group)",
      if: .noNIO
    ),
    .advise(
      "ClientConnection.insecure",
      "Use try Channel.connect(host:port:options:group:), with options.security = .plaintext if the host is not this machine. What .with...() sets is in ChannelOptions."
    ),
    .advise(
      "ClientConnection.usingPlatformAppropriateTLS",
      "Use try Channel.connect(host:port:options:group:): TLS is the default for other machines."
    ),
    .advise(
      "ClientConnection.usingTLSBackedByNIOSSL",
      "Use try Channel.connect(host:port:options:group:), with options.security = .tls(ClientTLS(trustRoots:credentials:serverNameOverride:))."
    ),
    .advise(
      "ClientConnection.usingTLS",
      "Use options.security = .tls(ClientTLS(trustRoots:credentials:serverNameOverride:))."
    ),
    .advise("ClientConnection.Builder", "Use ChannelOptions, and Channel.connect(host:port:options:group:)."),
    .advise("ClientConnection.Configuration", "Use ChannelOptions."),
    .advise("ClientConnection(configuration", "Use try Channel(target:options:group:)."),
    .change("ClientConnection", to: "Channel", if: .notInherited, .noNIO),
    .advise(".withConnectionBackoff", "Use ChannelOptions.connectInitialBackoff and connectMaxBackoff."),
    .advise(".withConnectionTimeout", "Use ChannelOptions.connectMinTimeout."),
    .advise(".withConnectionReestablishment", "A channel connects again by itself."),
    .advise(
      ".withKeepalive",
      "Use keepaliveInterval and keepaliveTimeout of ChannelOptions or ServerOptions."
    ),
    .advise(
      ".withConnectionIdleTimeout",
      "Use ChannelOptions.idleTimeout, or ServerOptions.maxConnectionIdle."
    ),
    .advise(
      ".withCallStartBehavior",
      "Calls wait with ChannelOptions.waitForReady = true, or CallOptions.waitForReady for some of them."
    ),
    .advise(".withErrorDelegate", "Use the logger of ChannelOptions or ServerOptions."),
    .advise(".withBackgroundActivityLogger", "Use ChannelOptions.logger."),
    .advise(
      ".withHTTPTargetWindowSize",
      "Use streamLookahead, connectionWindow and maxWindow of ChannelOptions."
    ),
    .advise(
      "ClientConnectionKeepalive",
      "Use keepaliveInterval, keepaliveTimeout and keepaliveWithoutCalls of ChannelOptions."
    ),
    .advise("ConnectionBackoff", "Use connectInitialBackoff and connectMaxBackoff of ChannelOptions."),
    .advise(".withConnectivityStateDelegate", "Use: for await state in channel.connectivity { }"),
    .advise("ConnectivityStateDelegate", "Use: for await state in channel.connectivity { }"),
    .advise("connectivity.delegate", "Use: for await state in channel.connectivity { }"),
    .advise("debugChannelInitializer", "Has no counterpart: there is no pipeline of NIO."),
    .advise("ConnectionTarget", target),
    .advise(".hostAndPort", target),
  ]

  private static let target =
    "A target is a text: \"host:50051\", \"unix:/run/socket\". A server has bind(host:port:)."

  private static let groups: [Rule] =
    made(
      "MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)",
      "",
      "a loop serves thousands of calls; 'count:' adds more"
    )
    + made("MultiThreadedEventLoopGroup(numberOfThreads: $count)", "count: $count")
    + made("PlatformSupport.makeEventLoopGroup(loopCount: $count)", "count: $count") + uses

  /// A group that is made. Making one may fail, which the initial value of a property can neither throw nor catch: it gets
  /// `try!`, as the finding shows.
  private static func made(_ group: String, _ arguments: String, _ reason: String = "") -> [Rule] {
    [
      .change(group, to: "try! LoopGroup(\(arguments))", if: .inType, .noNIO, because: reason),
      .change(
        "$effects \(group)",
        to: "$try LoopGroup(\(arguments))",
        if: .notInProperty,
        .noNIO,
        because: reason
      ),
      .advise(group, "Use try LoopGroup(), where an error can be thrown or caught.", if: .noNIO),
    ]
  }

  private static let uses: [Rule] = [
    .advise(
      "MultiThreadedEventLoopGroup.singleton",
      "Leave it out: a channel and a server have a loop of their own. To share loops, pass a LoopGroup as 'group:'."
    ),
    .advise(
      "NIOSingletons",
      "Leave it out: a channel and a server have a loop of their own. To share loops, pass a LoopGroup as 'group:'."
    ),
    .advise("eventLoop.next", next),
    .advise("eventLoopGroup.next", next),
    .advise("NIOTSEventLoopGroup", "Has no counterpart: channels and servers have loops of their own."),
    .change("$effects $path.syncShutdownGracefully()", to: "$path.shutDown()", if: .noNIO),
    .change("$effects $path.shutdownGracefully()", to: "$path.shutDown()", if: .noNIO),
    .change("any EventLoopGroup", to: "LoopGroup", if: .noNIO),
    .change("EventLoopGroup", to: "LoopGroup", if: .noNIO, .notInherited),
    .advise("EventLoopGroup", "A channel or a server takes 'group:', a LoopGroup; NIO's is another type."),
    .advise(
      ".makeSucceededFuture",
      "Nothing returns a future here: make the function async and return the value."
    ),
    .advise(
      ".makeFailedFuture",
      "Nothing returns a future here: make the function async and throw the error."
    ),
    .advise(".scheduleTask", "Make a Task that sleeps."),
    .advise("PlatformSupport", "Leave it out: Switchboard has its own event loop."),
  ]

  private static let next = "A channel and a server take the LoopGroup itself, and one of its loops."

  private static let types: [Rule] = [
    .advise(
      "GRPCChannel",
      "Channel is a class, not a protocol. Several servers behind one channel: docs/guide/Balancing.md. In tests: Channel(inProcess:).",
      if: .inherited
    ),
    .change("any GRPC.GRPCChannel", to: "Switchboard.Channel"),
    .change("GRPC.GRPCChannel", to: "Switchboard.Channel"),
    .change("GRPC.", to: "Switchboard."),
    .change("NIO.", to: "Switchboard.", if: .noNIO),
    .change("NIOCore.", to: "Switchboard.", if: .noNIO),
    .change("NIOHPACK.", to: "Switchboard.", if: .noNIO),
    .change("any GRPCChannel", to: "Channel", if: .noNIO),
    .change("some GRPCChannel", to: "Channel", if: .noNIO),
    .change("GRPCChannel", to: "Channel", if: .noNIO),
    .change("any GRPCChannel", to: "Switchboard.Channel"),
    .change("GRPCChannel", to: "Switchboard.Channel"),
    .advise("makeCall(path", repeating),
    .advise("Call<", repeating),
    .advise("GRPCPayload", "Use a Marshaller (docs/guide/Marshallers.md)."),
    .advise(
      "channel.close",
      "Use await channel.shutDown(grace: .zero), which cannot be in a 'defer'; or leave it out: a channel closes when nothing keeps it."
    ),
    .advise(".closeGracefully", "Use await channel.shutDown(grace: .seconds(10))."),
  ]

  private static let repeating =
    "An interceptor that makes a call again is a ClientCallInterceptor, whose 'next' may be called twice (docs/guide/Interceptors.md, 'Whole calls'). Other code makes calls by a generated client, or by MethodClient."
}

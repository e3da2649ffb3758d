/// Interceptors of grpc-swift 2, which see every call as streams. Here they are of whole calls. These rules come before those
/// for the same names elsewhere.
enum SecondInterceptorRules {
  static let all = types + ["", "GRPCCore."].flatMap(names) + values

  private static let types: [Rule] = ["Client", "Server"].flatMap { side in
    [
      .advise(
        "\(side)Interceptor",
        in: .two,
        "Make it a class of whole calls of SwitchboardInterceptors, \(side)CallInterceptor<Request, Response>, which overrides intercept(_:context:next:) for StreamedRequest, and for UnaryRequest (docs/guide/Interceptors.md, 'Whole calls').",
        if: .importsSecond
      )
    ]
  }

  /// The names in a signature. Only the types of messages are what they were.
  private static func names(_ module: String) -> [Rule] {
    ["Client", "Server"].flatMap { side in
      [
        Rule.change("\(module)\(side)Context", to: "Context", in: .two, if: .inInterceptor),
        .change(
          "\(module)Streaming\(side)Request<",
          to: "StreamedRequest<",
          in: .two,
          if: .inInterceptor,
          because: "of SwitchboardInterceptors"
        ),
        .change(
          "\(module)Streaming\(side)Response<",
          to: "StreamedResponse<",
          in: .two,
          if: .inInterceptor,
          because: "of SwitchboardInterceptors"
        ),
        .advise("\(module)Streaming\(side)Request", in: .two, request, if: .inInterceptor),
        .advise("\(module)Streaming\(side)Response", in: .two, response, if: .inInterceptor),
        .advise("\(module)\(side)Request", in: .two, unary, if: .inInterceptor),
        .advise("\(module)\(side)Response", in: .two, unary, if: .inInterceptor),
      ]
    }
  }

  private static let request =
    "In an interceptor: StreamedRequest(metadata:messages:) of SwitchboardInterceptors, with a MessageStream."
  private static let response =
    "In an interceptor: StreamedResponse(metadata:messages:trailers:) of SwitchboardInterceptors, with a MessageStream. A failure is a GRPCStatus that is thrown."
  private static let unary =
    "In an interceptor: UnaryRequest and UnaryResponse of SwitchboardInterceptors, which unary calls have in place of streams."

  private static let values: [Rule] = [
    .change(
      "next($request, context)",
      to: "next($request)",
      in: .two,
      if: .importsSecond,
      .inInterceptor
    ),
    .advise("RPCAsyncSequence", in: .two, "In an interceptor: a MessageStream.", if: .inInterceptor),
    .advise(
      "$path.producer",
      in: .two,
      "Use 'messages', a MessageStream, which MessageStream(_:) makes of any asynchronous sequence.",
      if: .importsSecond,
      .inInterceptor
    ),
    .advise(
      "interceptorPipeline",
      in: .two,
      "Use ChannelOptions.interceptorFactories or ServerOptions.interceptorFactories."
    ),
    .advise(
      "ClientContext",
      in: .two,
      "In an interceptor: its Context. A call object has what a caller asks for."
    ),
  ]
}

/// Interceptors, headers, statuses and what travels with a call.
enum InterceptorRules {
  static let all = bases + headers + context + statuses

  /// The messages of an interceptor are `Sendable`, also where a subclass leaves their types open.
  private static let bases: [Rule] = ["ClientInterceptor", "ServerInterceptor"].map { base in
    .change(
      "class $NAME<$REQUEST, $RESPONSE>: \(base)<",
      to: "class $NAME<$REQUEST: Sendable, $RESPONSE: Sendable>: \(base)<",
      because: "the types of messages are Sendable"
    )
  }

  private static let headers: [Rule] =
    ["{", "where"].map { next in
      .change(
        "for ($A, $B, _) in $headers \(next)",
        to: "for ($A, $B) in $headers \(next)",
        if: .isHeaders("headers"),
        because: "an element of HPACKHeaders is a name and a value"
      )
    } + ["map", "forEach", "filter", "compactMap", "flatMap", "contains", "first"].flatMap(threeParts) + [
      .advise(
        "for ($A, $B, $C) in $headers {",
        "An element of HPACKHeaders is a name and a value.",
        if: .isHeaders("headers")
      ),
      .advise("indexing", once: true, "HPACKHeaders have no indexing: leave the label out."),
      .advise("canonicalForm", "headers[\"name\"] has the values as they came; split them at commas."),
      .advise("HPACKHeaders(httpHeaders", "Add each field: headers.add(name:value:)."),
      .advise("HPACKIndexing", "HPACKHeaders have no indexing."),
    ]

  private static func threeParts(_ method: String) -> [Rule] {
    [" { $A, $B, _ in", "({ $A, $B, _ in", " { ($A, $B, _) in", "({ ($A, $B, _) in"].map { closure in
      .change(
        "$HEADERS.\(method)\(closure)",
        to: "$HEADERS.\(method)\(closure.replacing(", _", with: ""))",
        if: .isHeaders("HEADERS"),
        because: "an element of HPACKHeaders is a name and a value"
      )
    } + [
      .advise(
        ".\(method) { $A, $B, _ in",
        "If these are HPACKHeaders, an element is a name and a value, without a third part."
      )
    ]
  }

  private static let context: [Rule] = [
    .change("UserInfo.Key", to: "UserInfoKey"),
    .advise("closeFuture", "Every call has an 'end' in send(_:promise:context:)."),
    .advise(
      "EventLoopFuture",
      once: true,
      "A future has whenComplete, whenFailure and try await get(), and no more. Most functions that return one become async."
    ),
    .advise(".whenSuccess", "Use whenComplete, or try await future.get()."),
    .advise(".cascade", "Use whenComplete, and complete the promise with its result."),
    .advise("EmbeddedEventLoop", "Has no counterpart: tests use Channel(inProcess:)."),
  ]

  private static let statuses: [Rule] = [
    .change("GRPCStatus.processingError", to: "GRPCStatus(code: .internalError)"),
    .advise(".processingError", "Use GRPCStatus(code: .internalError)."),
    .advise("GRPCError", "Calls fail with a GRPCStatus; compare its code."),
    .advise("GRPCStatusAndTrailers", "Throw a GRPCStatus, and use context.setTrailers(_:)."),
  ]
}

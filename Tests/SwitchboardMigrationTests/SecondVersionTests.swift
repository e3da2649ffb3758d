import SwitchboardMigration
import Testing

/// What the advice about code of grpc-swift 2 depends on: whether it is a client, a handler or an interceptor.
@Suite struct SecondVersionTests {
  /// What is left to a person in a file of grpc-swift 2, with the advice.
  private func advice(_ text: String) -> [(found: String, advice: String)] {
    Package().migration("import GRPCCore\n" + text).findings.filter { $0.replacement == nil }
      .map { ($0.found, $0.advice) }
  }

  private func changed(_ text: String) -> String {
    String(Package().changed("import GRPCCore\n" + text).dropFirst("import Switchboard\n".count))
  }

  // MARK: Messages that a closure writes

  private static let request = "Of a client's call, whose closure has the call object:"
  private static let response = "Of a handler's response: try await responseStream.send(_:)."

  @Test(arguments: [
    ("let r = try await c.collect { writer in\n  try await writer.write(m)\n}", request),
    (
      "try await c.collect(metadata: m) { [weak self] w in for p in self.ps { try await w.write(p) } }",
      request
    ),
    ("try await c.update { w in try await w.write(contentsOf: a) } onResponse: { r in f(r) }", request),
    ("c.collect(requestProducer: { (w: W) async throws -> Void in try await w.write(m) })", request),
    ("let r = StreamingClientRequest { writer in try await writer.write(m) }", request),
    ("return StreamingServerResponse(metadata: d) { w in\n  try await w.write(m)\n  return d\n}", response),
    ("return StreamingServerResponse { w in f { try await w.write(m) }; return [:] }", response),
    (
      "try await writer.write(m)", response + " Of a client's request: try await call.requestStream.send(_:)."
    ),
    ("for w in ws { try await w.write(m) }", response + " Of a client's request:"),
    ("with { w in try await w.write(m) }", response + " Of a client's request:"),
    ("c.collect { v in try await writer.write(m) }", response + " Of a client's request:"),
  ]) func writesAreOfRequestsOrResponses(_ text: String, _ expected: String) throws {
    let found = advice(text).filter { $0.found.contains(".write(") }
    try #require(found.count == 1)
    #expect(found[0].advice.hasPrefix(expected), "\(found[0].advice)")
    if !expected.contains("client") { #expect(!found[0].advice.contains("client")) }
    #expect(changed(text).contains(".write("))
  }

  /// A writer is of responses only where a handler has it as its parameter.
  @Test func theTypeOfAWriterDependsOnItsPlace() {
    #expect(
      changed("func f(response: RPCWriter<A>)") == "func f(responseStream response: ResponseStreamWriter<A>)"
    )
    let other = "func f(to writer: RPCWriter<A>)"
    #expect(changed(other) == other)
    #expect(advice(other).map(\.found) == ["RPCWriter"])
  }

  // MARK: Errors and metadata

  @Test func aStatusHasNoMetadata() throws {
    let error = "throw RPCError(code: .aborted, message: \"x\", metadata: m, cause: e)\n"
    let handler = advice(error + "c.get(q, metadata: m)\n")
    // What is said once is about the call, and not about the error before it.
    #expect(handler.map(\.found) == ["RPCError(", "metadata:"])
    #expect(handler[0].advice.contains("context.setTrailers(_:)"))
    #expect(handler[1].advice == "Of a call: callOptions: CallOptions(initialMetadata:).")
    let interceptor = advice("struct A: ServerInterceptor {\n  func f() throws { \(error) }\n}\n")
    #expect(interceptor.map(\.found) == ["ServerInterceptor", "RPCError("])
    #expect(interceptor[1].advice.contains(".end(status, trailers)"))
    #expect(!interceptor[1].advice.contains("setTrailers"))
  }

  @Test(arguments: [
    "logger.info(\"x\", metadata: [\"a\": \"b\"])", "StreamingServerResponse(metadata: m) { w in [:] }",
    "ServerResponse(message: m, metadata: [:])",
  ]) func otherMetadataIsNotOfACall(_ text: String) {
    #expect(!advice(text).contains { $0.found == "metadata:" })
  }

  // MARK: Interceptors

  private static func interceptor(_ side: String) -> String {
    """
      func intercept<Input: Sendable, Output: Sendable>(
        request: Streaming\(side)Request<Input>,
        context: \(side)Context,
        next: @Sendable (Streaming\(side)Request<Input>, GRPCCore.\(side)Context) async throws
          -> GRPCCore.Streaming\(side)Response<Output>
      ) async throws -> Streaming\(side)Response<Output> {
        guard a else { throw RPCError(code: .aborted, message: "x") }
        return try await next(f(request, 1), context)
      }

    """
  }

  private static let expected = """
      func intercept<Input: Sendable, Output: Sendable>(
        request: StreamedRequest<Input>,
        context: Context,
        next: @Sendable (StreamedRequest<Input>, Context) async throws
          -> StreamedResponse<Output>
      ) async throws -> StreamedResponse<Output> {
        guard a else { throw GRPCStatus(code: .aborted, message: "x") }
        return try await next(f(request, 1))
      }

    """

  @Test(arguments: ["Client", "Server"]) func interceptorsHaveTheirOwnTypes(_ side: String) {
    let head = "struct A: Sendable, \(side)Interceptor {\n"
    #expect(changed(head + Self.interceptor(side) + "}\n") == head + Self.expected + "}\n")
    let twice = "import Switchboard\n" + head + Self.expected + "}\n"
    #expect(Package().changed(twice) == twice)
    let left = advice(head + Self.interceptor(side) + "}\n")
    #expect(left.map(\.found) == ["\(side)Interceptor"])
    #expect(left.first?.advice.contains("\(side)CallInterceptor<Request, Response>") == true)
    // The conformance may be elsewhere.
    let other = "extension A {\n"
    #expect(changed(other + Self.interceptor(side) + "}\n") == other + Self.expected + "}\n")
  }

  /// Each name means what it means where it is.
  @Test func contextsAreOfTheirPlace() {
    let text = """
      struct A {
        func f(context: ServerContext) {}
      }
      extension A: ServerInterceptor {
        static func g(_ context: ServerContext) {}
      }
      extension ServerInterceptor where Self == A {
        static func h(_ context: ServerContext) {}
      }
      struct P: A_B.SimpleServiceProtocol {
        func get(request: Q, context: ServerContext) async throws -> R { R() }
      }
      func i(context: ServerContext) {}
      """
    let types = changed(text).split(separator: "\n").compactMap { line in
      ["ServerCallContext", "ServerContext", "Context"].first { line.contains($0) }
    }
    #expect(types == ["Context", "Context", "Context", "ServerCallContext", "ServerCallContext"])
  }

  @Test(arguments: [
    ("StreamingServerResponse(error: e)", "StreamedResponse(metadata:messages:trailers:)"),
    ("StreamingClientRequest { w in f(w) }", "StreamedRequest(metadata:messages:)"),
    ("ServerRequest(stream: r)", "UnaryRequest"), ("response.accepted", "throw the GRPCStatus"),
    ("success.bodyParts", "trailingMetadata"), ("request.producer", "MessageStream(_:)"),
    ("RPCAsyncSequence(wrapping: s)", "MessageStream"),
  ]) func whatInterceptorsMakeIsLeftToAPerson(_ expression: String, _ expected: String) {
    let left = advice("struct A: ServerInterceptor { func f() { _ = \(expression) } }\n").dropFirst()
    #expect(left.count == 1 && left.first?.advice.contains(expected) == true, "\(left)")
  }

  /// Handlers have other types under the same names.
  @Test func handlersHaveNoStreamedRequests() {
    let text = "func update(request: StreamingServerRequest<Q>) -> StreamingServerResponse<R>"
    #expect(changed(text) == text)
    #expect(advice(text).map(\.advice).allSatisfy { $0.hasPrefix("Use re") && $0.contains("context.") })
    let call = "func f(context: ServerContext) { next(request, context) }"
    #expect(changed(call).hasSuffix("next(request, context) }"))
  }
}

import Switchboard
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardText
import SwitchboardTransport

extension RESTOptions {
  /// Throws if what is served as JSON is none.
  fileprivate func checkDocument() throws(HTTPRuleError) {
    guard let document else { return }
    do throws(DecodeError) {
      _ = try Google_Protobuf_Value(jsonUTF8Bytes: document.json)
    } catch {
      throw HTTPRuleError("the document at \(document.path) is not JSON: \(error)")
    }
  }
}

extension CallHandlerProvider {
  /// Whether it has methods, of which none takes or returns protobuf.
  fileprivate var hasForeignMessages: Bool {
    !methodHandlers.isEmpty
      && methodHandlers.allSatisfy { $0.foreignFormats.requests != nil && $0.foreignFormats.responses != nil }
  }
}

extension [any CallHandlerProvider] {
  /// Throws if a rule names a method whose messages are not protobuf. Services that have some of each are described.
  fileprivate func checkMessages(_ rules: [HTTPRule]) throws(HTTPRuleError) {
    let foreign = Set(
      filter { $0.reflectionData.isEmpty && $0.hasForeignMessages }.flatMap(\.methodHandlers)
        .map { ExactText("\($0.method.service).\($0.method.method)") }
    )
    guard let rule = rules.first(where: { foreign.contains($0.selector) }) else { return }
    throw HTTPRuleError(
      "a rule names the method \(rule.selector), whose messages are not protobuf: REST makes its JSON of protobuf, so it serves "
        + "methods of .proto files alone; a method of Codable messages is called by Connect, with ServerOptions.web"
    )
  }
}

extension ServerOptions {
  /// Serves REST by the `google.api.http` annotations of the services, on the same ports, over HTTP/2 and HTTP/1.1:
  ///
  ///     let providers: [any CallHandlerProvider] = [BooksProvider()]
  ///     var options = ServerOptions()
  ///     try options.serveREST(providers)
  ///     let server = try Server(providers: providers, options: options)
  ///
  /// The rules are read from the descriptors in generated services (`ReflectionData=true`); services without descriptors
  /// have no rules, and are not served by REST, which is logged. The rules are compiled here, once. Throws if a rule is invalid, if two
  /// rules have the same method and path, or if a rule has the document's path; the error names both. Throws if the document is
  /// not JSON. All services are served by one call: a second one throws.
  public mutating func serveREST(
    _ providers: [any CallHandlerProvider],
    options: RESTOptions = RESTOptions()
  ) throws(HTTPRuleError) {
    // The first protocol rejects every path that it does not have, so the second would never be asked.
    guard dialects.isEmpty else {
      throw HTTPRuleError("REST is served already: one call of serveREST takes the providers of all services")
    }
    try providers.checkMessages(options.rules)
    let services = Set(providers.map(\.serviceName))
    let api = try DescribedAPI(files: providers.descriptors, services: services, rules: options.rules)
    let table = try RESTTable(api)
    guard !table.routes.isEmpty else {
      throw HTTPRuleError(
        "no method has a rule: services need annotations or rules, and ReflectionData=true when they are generated"
      )
    }
    for provider in providers where provider.reflectionData.isEmpty {
      logger.log(
        .warning,
        "a service given to serveREST is not served by REST: "
          + (provider.hasForeignMessages
            ? "its messages are not protobuf, of which REST makes its JSON"
            : "generate it with ReflectionData=true"),
        ["service": provider.serviceName]
      )
    }
    for doubt in api.doubts + table.doubts {
      logger.log(.warning, "a rule of REST is hardly what was meant", ["rule": doubt])
    }
    if let path = options.document?.path, let route = table.literalRoute(of: path) {
      throw HTTPRuleError(route.method, route.binding, "the document has the same path")
    }
    try options.checkDocument()
    let make: @Sendable (RPCMethods) throws(GRPCStatus) -> any Dialect = {
      [logger] (methods: RPCMethods) throws(GRPCStatus) -> any Dialect in
      for hidden in table.hiddenByPages(of: methods) {
        logger.log(.warning, "a page hides a rule of REST", ["rule": hidden])
      }
      let rest: any Dialect = try RESTDialect(table, options, methods)
      return rest
    }
    dialects.append(make)
    guard let document = options.document else { return }
    pages.append(
      HTTPPage("GET", document.path) { _ in
        HTTPPage.Response(contentType: "application/json", body: document.json)
      }
    )
  }
}

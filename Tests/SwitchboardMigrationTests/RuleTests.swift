import Testing

@testable import SwitchboardMigration

/// What rules make of a line, and what they leave to a person.
@Suite struct RuleTests {
  @Test func everyPatternHasSomethingToSearchFor() {
    let settings = MigrationSettings(dependency: .init(name: "switchboard", declaration: "x"))
    let rules =
      ClientRules.all + OptionRules.all + ServerRules.all + InterceptorRules.all + SecurityRules.all
      + MessageRules.all
      + LoggingRules.all + WaitingRules.all + SecondRules.all + ManifestRules.rules(settings)
    #expect(rules.count > 200)
    for rule in rules {
      #expect(rule.pattern != nil, "\(rule.advice)")
      // Advice ends as a sentence does; a reason is a part of one.
      if rule.template == nil {
        #expect(
          rule.advice.hasSuffix(".") || rule.advice.hasSuffix("}") || rule.advice.hasSuffix("requestStream"),
          "\(rule.advice)"
        )
      }
    }
  }

  @Test(arguments: [
    // Clients.
    ("let c = Echo_EchoAsyncClient(channel: x)", "let c = Echo_EchoClient(channel: x)"),
    ("var c: Echo_EchoAsyncClientProtocol", "var c: Echo_EchoClientProtocol"),
    ("var c: Model.Echo_EchoNIOClient?", "var c: Model.Echo_EchoClient?"),
    ("let s: GRPCAsyncResponseStream<A>", "let s: ResponseStream<A>"),
    ("let c: GRPCAsyncUnaryCall<A_Q, M.A_R>", "let c: AsyncUnaryCall<M.A_R>"),
    ("let c: [GRPCAsyncServerStreamingCall<A_Q, A_R>]", "let c: [AsyncServerStreamingCall<A_R>]"),
    ("let c: GRPCAsyncClientStreamingCall<Q, R>", "let c: AsyncClientStreamingCall<Q, R>"),
    ("let c: GRPCAsyncBidirectionalStreamingCall<Q, R>", "let c: AsyncBidirectionalStreamingCall<Q, R>"),
    ("c as? GRPCAsyncUnaryCall", "c as? AsyncUnaryCall"),
    ("func f(_ c: any GRPCChannel)", "func f(_ c: Channel)"),
    ("func f(_ c: GRPC.GRPCChannel)", "func f(_ c: Switchboard.Channel)"),
    (
      #"let c = try GRPCChannelPool.with(target: .host("localhost", port: 1), transportSecurity: .plaintext, eventLoopGroup: group)"#,
      #"let c = try Channel.connect(host: "localhost", port: 1, group: group)"#
    ),
    (
      "c = try! GRPCChannelPool.with(\n  target: .host(h, port: f(1, 2)),\n  transportSecurity: .tls(.makeClientDefault(compatibleWith: g)),\n  eventLoopGroup: g\n)",
      "c = try! Channel.connect(host: h, port: f(1, 2), options: { var options = ChannelOptions(); options.security = .tls(); return options }(), group: g)"
    ),
    (
      #"let c = ClientConnection.insecure(group: group).connect(host: "far", port: 1)"#,
      #"let c = try Channel.connect(host: "far", port: 1, options: { var options = ChannelOptions(); options.security = .plaintext; return options }(), group: group)"#
    ),
    (
      #"let c = try GRPCChannelPool.with(target: .host("::1", port: 1), transportSecurity: .plaintext, eventLoopGroup: MultiThreadedEventLoopGroup.singleton)"#,
      #"let c = try Channel.connect(host: "::1", port: 1)"#
    ),
    // Call objects.
    (
      "let c: A_BNIOClient\nlet d = c.get(q, callOptions: o)",
      "let c: A_BClient\nlet d = c.makeGetCall(q, callOptions: o)"
    ),
    (
      "let c = A_BNIOClient(channel: x)\nlet d = c.get()",
      "let c = A_BClient(channel: x)\nlet d = c.makeGetCall()"
    ),
    (
      "init(c: M.A_BNIOClient?) { d = self.c?.putAll(f(1)) }",
      "init(c: M.A_BClient?) { d = self.c?.makePutAllCall(f(1)) }"
    ),
    ("call.sendEnd(promise: nil)", "call.requestStream.finish()"),
    // Loops.
    ("let g = MultiThreadedEventLoopGroup(numberOfThreads: 4)", "let g = try LoopGroup(count: 4)"),
    (
      "class A { let g = MultiThreadedEventLoopGroup(numberOfThreads: 4) }",
      "class A { let g = try! LoopGroup(count: 4) }"
    ),
    ("defer { try! self.group.syncShutdownGracefully() }", "defer { self.group.shutDown() }"),
    ("try await group.shutdownGracefully()", "group.shutDown()"),
    ("var g: any EventLoopGroup", "var g: LoopGroup"),
    // Options.
    (
      "CallOptions(customMetadata: m, timeLimit: .timeout(.seconds(5)))",
      "CallOptions(timeout: .seconds(5), initialMetadata: m)"
    ),
    (
      "f(callOptions: .init(customMetadata: m, timeLimit: .timeout(.seconds(5))))",
      "f(callOptions: .init(timeout: .seconds(5), initialMetadata: m))"
    ),
    ("f(callOptions: .init(timeLimit: .none))", "f(callOptions: .init(timeout: CallOptions.noTimeout))"),
    ("CallOptions.init(timeLimit: .none)", "CallOptions.init(timeout: CallOptions.noTimeout)"),
    ("let o: CallOptions = .init(customMetadata: m)", "let o: CallOptions = .init(initialMetadata: m)"),
    ("options.customMetadata.add(name: n, value: v)", "options.initialMetadata.add(name: n, value: v)"),
    ("options.timeLimit = .timeout(.seconds(n))", "options.timeout = .seconds(n)"),
    ("options.timeLimit = .none", "options.timeout = CallOptions.noTimeout"),
    ("CallOptions(timeLimit: .timeout(.minutes(1)))", "CallOptions(timeout: .seconds(60))"),
    (
      "CallOptions(customMetadata: m, timeLimit: .timeout(.hours(2)))",
      "CallOptions(timeout: .seconds(7200), initialMetadata: m)"
    ),
    ("o.timeLimit = TimeLimit.timeout(TimeAmount.seconds(n))", "o.timeout = .seconds(n)"),
    ("o.timeLimit = .timeout(TimeAmount.minutes(2))", "o.timeout = .seconds(120)"),
    ("CallOptions(timeLimit: TimeLimit.timeout(.seconds(5)))", "CallOptions(timeout: .seconds(5))"),
    ("options.timeLimit = .timeout(.minutes(1_000))", "options.timeout = .seconds(60000)"),
    ("options.timeLimit = .timeout(.nanoseconds(n + 1))", "options.timeout = .nanoseconds(n + 1)"),
    // Servers.
    (
      "  let s = try await Server.insecure(group: g)\n    .withServiceProviders([P()])\n    .bind(host: h, port: 1)\n    .get()",
      "  let s = try Server(providers: [P()], group: g)\n  let sAddress = try s.bind(host: h, port: 1)"
    ),
    (
      "let s = try Server(providers: p)\nprint(s.channel.localAddress!.port!, \"\\(s.channel.localAddress!)\")",
      "let s = try Server(providers: p)\nprint(sAddress.port, \"\\(sAddress)\")"
    ),
    (
      "func f() {\n  let c = ClientConnection(configuration: x)\n  defer {\n    try! c.close().wait()\n  }\n  g(c)\n}",
      "func f() {\n  let c = ClientConnection(configuration: x)\n  g(c)\n}"
    ),
    ("try await self.server.onClose.get()", "try await self.server.run()"),
    ("let h = context.request.headers", "let h = context.headers"),
    ("let w = await context.withUserInfo { $0[W.self] }", "let w = context.userInfo[W.self]"),
    ("await context.withMutableUserInfo { $0[W.self] = a.b(1) }", "context.userInfo[W.self] = a.b(1)"),
    ("A_SClientMetadata.Methods.get.path", "A_SMetadata.Methods.get.descriptor.path"),
    ("A_SServerMetadata.Methods.get.name", "A_SMetadata.Methods.get.descriptor.method"),
    ("let m = [A_SServerMetadata.Methods.get]", "let m = [A_SMetadata.Methods.get]"),
    ("let s = A_SServerMetadata.serviceDescriptor", "let s = A_SMetadata.service"),
    ("A_SClientMetadata.serviceDescriptor.fullName", "A_SMetadata.service.name"),
    // Messages of a stream.
    ("try await s.send(m, compression: .disabled)", "try await s.send(m, compress: false)"),
    ("try await s.send(f(1, 2), compression: .enabled)", "try await s.send(f(1, 2), compress: true)"),
    ("try await s.send(m, compression: .deferToCallDefault)", "try await s.send(m)"),
    ("try await context.response.setTrailers(t)", "context.setTrailers(t)"),
    ("func f(context: GRPCAsyncServerCallContext)", "func f(context: ServerCallContext)"),
    // Interceptors.
    ("for (name, value, _) in context.headers {", "for (name, value) in context.headers {"),
    ("for (n, v, _) in headers where n == m {", "for (n, v) in headers where n == m {"),
    ("headers.map { name, value, _ in", "headers.map { name, value in"),
    ("headers.forEach({ (name, value, _) in", "headers.forEach({ (name, value) in"),
    ("enum K: UserInfo.Key {", "enum K: UserInfoKey {"),
    (
      "final class G<Request, Response>: ServerInterceptor<Request, Response> {",
      "final class G<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response> {"
    ),
    ("return .processingError", "return .processingError"),
    ("throw GRPCStatus.processingError", "throw GRPCStatus(code: .internalError)"),
    // Messages.
    ("let a = try A_B(serializedData: d[0])", "let a = try A_B(serializedBytes: Array(d[0]))"),
    ("let a = try A_B.array(fromJSONUTF8Data: d)", "let a = try A_B.array(fromJSONUTF8Bytes: Array(d))"),
    // Logs.
    (#"context.request.logger.notice("x")"#, #"context.logger.log(.info, "x")"#),
    (
      #"context.logger.info("a", metadata: ["b": "\(c.d(1)) \(e)", f.g: "h"])"#,
      #"context.logger.log(.info, "a", ["b": "\(c.d(1)) \(e)", f.g: "h"])"#
    ),
  ]) func changesWhatIsCertain(_ old: String, _ new: String) {
    #expect(Package().changed(lines: old) == new)
    #expect(Package().changed(lines: new) == new)
  }

  @Test(
    arguments: [
      ("let c = f()\ndefer { try! c.close().wait() }", ["3: .wait()"]),
      ("let retry: Call<A, B>", ["2: Call<"]),
      ("for (a, b, c) in headers {", ["2: for (a, b, c) in headers {"]),
      ("call.status.whenComplete { _ in }", ["2: .status.whenComplete"]),
      ("await context.withUserInfo { f($0) }", ["2: withUserInfo"]),
      ("f(.init(customMetadata: m, requestIDProvider: .none))", ["2: .init(customMetadata"]),
      ("Config.init(customMetadata: m)", ["2: .init(customMetadata"]),
      ("self.init(customMetadata: m)", ["2: .init(customMetadata"]),
      ("HTTPClient(.init(timeLimit: .timeout(.seconds(1))))", ["2: .init(timeLimit"]),
      ("let r = try await call.response.get()", ["2: .response.get"]),
      ("let r = try await c.get(q, callOptions: o)\n  .response.get()", ["3: .response.get"]),
      ("let r = try await c.makeUnaryCall(path: p, request: q).response.get()", ["2: .response.get"]),
      (
        "class A { var g: Any { MultiThreadedEventLoopGroup(numberOfThreads: 1) } }",
        ["2: MultiThreadedEventLoopGroup(numberOfThreads: 1)"]
      ),
      ("let c = Channel(x)\ndefer { try? c.close().wait() } ; print(c)", ["3: .wait()"]),
      ("f(self.eventLoopGroup.next(), eventLoop.next())", ["2: eventLoopGroup.next", "2: eventLoop.next"]),
      (
        "let s = try Server.insecure(group: g).withLogger(l).bind(host: h, port: 1).wait()\nlet p = s.channel.localAddress!.port!",
        ["2: Server.insecure", "2: .withLogger", "2: .wait()", "3: .localAddress"]
      ),
      (
        "var s = Server(providers: p)\nfunc f() { let s = g() }\nlet p = s.channel.localAddress!.port!",
        ["4: .localAddress"]
      ),
      ("try! channel.close().wait()", ["2: channel.close", "2: .wait()"]), ("x = f(.wait)", []),
      ("call.sendEnd(promise: p)", ["2: .sendEnd"]),
      ("for (a, b, _) in triples where a == header {", []),
      ("for (a, b, _) in triples { f() }; for h in headers where h.c {", []),
      ("for (a, b, _) in triples {", []), ("triples.map { a, b, _ in", ["2: .map { a, b, _ in"]),
      (
        "try GRPCChannelPool.with(target: t, transportSecurity: .plaintext, eventLoopGroup: g)",
        ["2: GRPCChannelPool.with"]
      ),
      (
        #"try GRPCChannelPool.with(target: .host("localhost", port: 1), transportSecurity: .plaintext, eventLoopGroup: g) { $0.x = 1 }"#,
        [#"2: try GRPCChannelPool.with(target: .host("localhost", port: 1), transportSecurity:…"#]
      ),
      ("final class C: GRPCChannel {", ["2: GRPCChannel"]),
      ("let c = try NIOSSLCertificate.fromPEMFile(p)", ["2: NIOSSLCertificate"]),
      ("func f(context: StatusOnlyCallContext)", ["2: StatusOnlyCallContext"]),
      ("let x = EchoAsyncClient(c)", []),
      ("CallOptions(customMetadata: /* why */ m)", ["2: CallOptions(customMetadata: /* why */ m)"]),
      ("$0.payload = Data(bytes)", ["2: payload = Data("]),
      ("let a = try Own(serializedData: d)", ["2: serializedData"]),
      (
        "CallOptions(timeLimit: .timeout(.minutes(n)))", ["2: CallOptions(timeLimit: .timeout(.minutes("]
      ),
      ("o.timeLimit = .timeout(.hours(1.5))", ["2: .timeLimit = .timeout(.hours("]),
      ("o.timeLimit = .timeout(.minutes(1234567890))", ["2: .timeLimit = .timeout(.minutes("]),
      ("o.timeLimit = .timeout(time)", ["2: .timeLimit = .timeout(time)"]),
      ("CallOptions(timeLimit: .timeout(time))", ["2: CallOptions(timeLimit: .timeout(time))"]),
      ("let c: GRPCAsyncUnaryCall<Box<A>, B>", ["2: GRPCAsyncUnaryCall<"]),
      ("let c: GRPCAsyncServerStreamingCall<A, [B]>", ["2: GRPCAsyncServerStreamingCall<"]),
      (#"context.logger.info("a", metadata: m)"#, ["2: context.logger.info"]),
      (#"context.logger.info("a", metadata: ["b": .string(c)])"#, ["2: context.logger.info"]),
      (#"context.logger.info("a", metadata: ["b": "c", "d": e])"#, ["2: context.logger.info"]),
      ("try await call.requestStream.send([a, b])", ["2: requestStream.send(["]),
      ("try await call.requestStream.send(requests)", ["2: requestStream.send(requests)"]),
      (
        "try await requestStream.send(requests, compression: .disabled)",
        ["2: requestStream.send(requests,"]
      ),
      ("try await call.requestStream.send(request)", []),
      (
        "try await s.send(contentsOf: m, compression: .disabled)",
        ["2: .send(contentsOf: m, compression"]
      ),
      ("try await s.send(m, compression: c)", ["2: .send(m, compression"]),
      ("A_SClientMetadata.Methods.get.fullName", ["2: A_SClientMetadata.Methods.get.fullName"]),
      ("A_SServerMetadata.serviceDescriptor.name", ["2: A_SServerMetadata.serviceDescriptor.name"]),
      (
        "Server.Configuration.default(target: .hostAndPort(h, 1), eventLoopGroup: g, serviceProviders: p)",
        ["2: Server.Configuration.default", "2: .hostAndPort"]
      ),
      ("try await Server.start(configuration: c).get()", ["2: Server.start"]),
      ("configuration.tlsConfiguration = t", ["2: .tlsConfiguration"]),
      (
        "Server.usingTLSBackedByNIOSSL(on: g, certificateChain: c, privateKey: k).withTLS(trustRoots: r)",
        ["2: Server.usingTLSBackedByNIOSSL", "2: .withTLS"]
      ),
      ("try ReflectionService(reflectionDataFileURLs: u, version: .v1)", ["2: reflectionDataFileURLs"]),
    ] as [(String, [String])]
  ) func leavesTheRestToAPerson(_ line: String, _ advice: [String]) {
    #expect(Package().advice("import GRPC\n" + line) == advice)
    if !line.contains("why") { #expect(Package().changed(lines: line) == line) }
  }

  @Test func commentsInWhatGoesAreNotLost() {
    let line = "let x = CallOptions(customMetadata: m, /* why */ timeLimit: .none)"
    #expect(Package().changed(lines: line) == line)
    let kept = Package().changed(lines: "let x = CallOptions(customMetadata: [/* why */ \"a\": \"b\"])")
    #expect(kept == "let x = CallOptions(initialMetadata: [/* why */ \"a\": \"b\"])")
  }

  /// The name of a client's method says that it returns a call object only where a generated client surely has it.
  @Test(arguments: [
    ("let c: A_BNIOClient", "c.get(q).response.get()"), ("let c: A_BNIOClient", "c.get(q) { r in f(r) }"),
    ("let c: A_BNIOClient", "c.update(callOptions: o, handler: f)"),
    ("let c: A_BNIOClient", "c.update { r in f(r) }"),
    ("let c: A_BNIOClient", "c.makeGetCall(q)"), ("let c: A_BNIOClient", "other.c.get(q)"),
    ("let c: A_BNIOClient; func f(c: Session) {}", "c.get(q)"), ("let c: HTTPNIOClient", "c.get(q)"),
    ("let c: A_BNIOClient; let d: HTTPNIOClient", "c.get(q)"), ("let c: A_BAsyncClient", "c.get(q)"),
    ("let c: [A_BNIOClient]", "c.append(q)"),
  ]) func otherMethodsKeepTheirNames(_ declaration: String, _ call: String) {
    #expect(Package().changed(lines: "\(declaration)\n\(call)").hasSuffix("\n" + call))
  }

  /// A method that an extension adds to a client returns what it likes, wherever the extension is.
  @Test(arguments: ["A_BNIOClient", "M.A_BNIOClient", "A_BClientProtocol where Self: S"])
  func methodsOfExtensionsKeepTheirNames(_ type: String) {
    let code = "import GRPC\nlet c: A_BNIOClient\nlet d = (c.ping(), c.get(q))\n"
    let own = "extension \(type) {\n  func ping() -> Int { 1 }\n}\n"
    let expected = "let d = (c.ping(), c.makeGetCall(q))\n"
    #expect(Package("import GRPC\n" + own).changed(code).hasSuffix(expected))
    #expect(Package().changed(code + own).contains(expected))
    #expect(Package("extension C {\n  func ping() {}\n}\n").changed(code).contains("c.makePingCall()"))
  }

  /// Nothing is written between a path and what it belongs to.
  @Test(arguments: ["self?.server.serve()", "a().server.serve()", "a[0].server.serve()"])
  func pathsAreWhole(_ call: String) {
    let text = "import GRPCCore\ntry await \(call)\n"
    #expect(Package().changed(text) == text.replacing("GRPCCore", with: "Switchboard"))
    let group = "self?.group"
    #expect(Package().changed(lines: "try \(group).syncShutdownGracefully()") == "try \(group).shutDown()")
  }

  @Test func namesOfThePackageAreItsOwn() {
    let package = Package("struct My_OwnAsyncClient {}\nclass GRPCChannel {}\nvar customMetadata = 1\n")
    for line in ["let c = My_OwnAsyncClient()", "let c: GRPCChannel", "x.customMetadata = 1"] {
      #expect(package.changed(lines: line) == line)
    }
  }

  @Test func namesInFunctionsAreNot() {
    let package = Package(
      "struct A {\n  var b: Int { let customMetadata = 1; return customMetadata }\n  deinit { let timeLimit = 2 }\n}\n"
    )
    #expect(package.changed(lines: "x.customMetadata = 1") == "x.initialMetadata = 1")
    #expect(package.changed(lines: "x.timeLimit = .none") == "x.timeout = CallOptions.noTimeout")
  }

  @Test func generatedNamesNeedNoUnderscore() {
    let generated =
      "// DO NOT EDIT.\n// Generated by the protocol buffer compiler.\nstruct EchoAsyncClient {}\n"
    #expect(Package(generated).changed(lines: "let c: EchoAsyncClient") == "let c: EchoClient")
  }

  @Test(arguments: [
    ("Echo_Echo.Client(wrapping: client)", "Echo_EchoClient(channel: client)"),
    ("struct S: Echo_Echo.SimpleServiceProtocol {", "struct S: Echo_EchoProvider {"),
    ("throw RPCError(code: .notFound, message: \"x\")", "throw GRPCStatus(code: .notFound, message: \"x\")"),
    ("catch let error as RPCError", "catch let error as GRPCStatus"),
    ("context: ServerContext", "context: ServerCallContext"),
    ("response: RPCWriter<A>,", "responseStream response: ResponseStreamWriter<A>,"),
    ("let m: Metadata = [:]", "let m: HPACKHeaders = [:]"),
    ("let m: GRPCCore.Metadata", "let m: Switchboard.HPACKHeaders"),
    ("let c: GRPCClient<HTTP2ClientTransport.Posix>", "let c: Channel"),
    (
      "let r = ClientRequest(message: m, metadata: h)\nlet a: B = try await c.get(request: r)",
      "let r = m\nlet rOptions = CallOptions(initialMetadata: h)\nlet a: B = try await c.get(r, callOptions: rOptions)"
    ),
    (
      "let r = ClientRequest(message: A.with { $0.b = 1 })\ntry await c.get(request: r)",
      "let r = A.with { $0.b = 1 }\ntry await c.get(r)"
    ),
    ("try await c.get(request: ClientRequest(message: m))", "try await c.get(m)"),
    (
      "try await c.get(request: ClientRequest(message: m, metadata: h))",
      "try await c.get(m, callOptions: CallOptions(initialMetadata: h))"
    ),
    ("m.addString(\"v\", forKey: \"k\")", "m.add(name: \"k\", value: \"v\")"),
    ("request: RPCAsyncSequence<A, any Error>", "requestStream request: RequestStream<A>"),
    ("try await response.write(.with { $0.a = 1 })", "try await response.send(.with { $0.a = 1 })"),
    ("try await server.serve()", "try await server.run()"),
    ("GRPCCore.ServerContext", "Switchboard.ServerCallContext"),
    ("var o = CallOptions.defaults", "var o = CallOptions()"),
    (
      "var o = CallOptions.defaults\no.maxResponseMessageBytes = 1",
      "var o = CallOptions()\no.responseSizeLimit = 1"
    ),
    ("m.addBinary(b, forKey: \"k-bin\")", "m.add(name: \"k-bin\", binary: b)"),
    ("m.replaceOrAddBinary(b, forKey: \"k-bin\")", "m.replaceOrAdd(name: \"k-bin\", binary: b)"),
    ("try await response.write(contentsOf: all)", "try await response.send(contentsOf: all)"),
    ("if context.cancellation.isCancelled {", "if context.isCancelled {"),
    ("health.provider.updateStatus(.serving, forService: \"a\")", "health.set(.serving, for: \"a\")"),
    (
      "h.provider.updateStatus(.serving, forService: A_S.descriptor)",
      "h.set(.serving, for: A_SMetadata.service.name)"
    ),
    ("let d = A_S.descriptor", "let d = A_SMetadata.service"),
    ("let n = A_S.descriptor.fullyQualifiedService", "let n = A_SMetadata.service.name"),
    ("request.metadata[stringValues: \"a\"]", "request.metadata[\"a\"]"),
  ]) func knowsTheSecondVersion(_ old: String, _ new: String) {
    let changed = Package().changed("import GRPCCore\nimport GRPCProtobuf\n" + old)
    #expect(changed == "import Switchboard\n" + new || changed.hasPrefix("import Switchboard\n" + new + "\n"))
  }

  /// A name that is declared in another way, too, may be anything where it is used.
  @Test(arguments: [
    "func f(request: URLRequest) {", "func f(_ request: URLRequest) {", "let f = { request in",
    "let f = { (request: URLRequest, b) -> C in", "for request in requests {", "let (request, b) = c",
    "case let .some(request):", "let a = 1, request = b", "if let request {", "let request: URLRequest",
  ]) func namesWithSeveralDeclarationsStay(_ declaration: String) {
    let call = "let request = ClientRequest(message: m)\nclient.get(request: request)"
    let text = "import GRPCCore\n\(call)\n\(declaration)\nsession.send(request: request)"
    #expect(Package().changed(text) == text.replacing("GRPCCore", with: "Switchboard"))
  }

  @Test(arguments: [
    ("methodConfig.maxResponseMessageBytes = 1", ".maxResponseMessageBytes"),
    ("print(context.remotePeer)", "context.remotePeer"),
    ("print(context.descriptor)", "context.descriptor"),
    ("let c: GRPCClient<Transport>", "GRPCClient"),
    ("let r: ClientRequest<A>", "ClientRequest"),
    ("f(request: StreamingClientRequest<A>)", "StreamingClientRequest"),
    ("let r: ClientResponse<A>", "ClientResponse"),
    ("try await context.cancellation.cancelled", "context.cancellation"),
    ("health.provider.updateStatus(.serving, forService: name)", ".updateStatus"),
    ("let d = A_S.Method.Get.descriptor", "A_S.Method.Get.descriptor"),
    ("error.metadata[stringValues: \"a\"]", "error.metadata[stringValues: \"a\"]"),
    ("rpcError.metadata[binaryValues: \"a-bin\"]", "rpcError.metadata[binaryValues: \"a-bin\"]"),
    ("print(error.metadata)", "error.metadata"),
    ("let s = try error.unpackGoogleRPCStatus()", "unpackGoogleRPCStatus"),
    ("let t = try HTTP2ClientTransport.Posix(target: a)", "HTTP2ClientTransport"),
    ("try await a().server.serve()", ".serve()"), ("let c = ServerContext(descriptor: d)", "ServerContext("),
    ("throw RPCError(code: c, message: m, metadata: [:])", "RPCError("),
  ]) func leavesTheRestOfTheSecondVersionToAPerson(_ line: String, _ found: String) {
    let text = "import GRPCCore\n" + line
    #expect(Package().advice(text) == ["2: " + found])
    #expect(Package().changed(text) == "import Switchboard\n" + line)
  }
}

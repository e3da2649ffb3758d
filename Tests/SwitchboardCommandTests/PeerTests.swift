import CertificateSupport
import Foundation
import SwitchboardCall
import TestSupport
import Testing

/// The command against servers of other implementations.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct PeerTests {
  // MARK: grpcio, whose reflection is v1alpha

  @Test func listsAndDescribesByReflectionV1Alpha() throws {
    let server = try GRPCIOServer()
    let services = try Run("list", server.target)
    #expect(services.errors == "")
    #expect(services.output == "grpc.health.v1.Health\ngrpc.reflection.v1alpha.ServerReflection\nshop.Shop\n")
    #expect(try Run("list", server.target, "shop.Shop").output.hasPrefix("shop.Shop/Buy\nshop.Shop/BuyAll\n"))
    let long = try Run("list", server.target, "shop.Shop", "--long")
    #expect(long.output.contains("shop.Shop/Talk(stream shop.Order) returns (stream shop.Receipt)\n"))
    #expect(try Run("list", server.target, "--json").output.contains("  \"shop.Shop\"\n"))

    let message = try Run("describe", server.target, "shop.Order")
    #expect(message.output.contains("  map<string, Order.Size> sizes = 4;\n"))
    #expect(message.output.contains("when = 8 [json_name = \"at\", deprecated = true];\n"))
    // grpcio does not know methods by name: the service tells.
    let method = try Run("describe", server.target, "shop.Shop/Buy")
    #expect(method.output.hasPrefix("rpc Buy(Order) returns (Receipt);\n\nmessage Order {\n"))
    let tree = try Run("describe", server.target, "shop.Order", "--tree")
    #expect(tree.output.contains("└── inside = 2: shop.Order (above)\n"))
    #expect(
      try Run("describe", server.target, "shop.Receipt", "--json").output.contains(
        "\"fullName\": \"shop.Receipt\""
      )
    )
  }

  @Test func callsMethodsOfAllKinds() throws {
    let server = try GRPCIOServer()
    let unary = try Run("call", server.target, "shop.Shop/Buy", "-d", #"{"item": "tea", "count": 2}"#)
    #expect(unary.output == "{\"text\":\"2 tea\",\"total\":\"9007199254740993\"}\n")
    #expect(unary.exitCode == 0)
    // Without -d the request is empty; the name may have a dot.
    #expect(try Run("call", server.target, "shop.Shop.Buy").output.contains("\"1 \""))
    let stream = try Run("call", server.target, "shop.Shop/Watch", "-d", #"{"item": "x", "count": 2}"#)
    #expect(stream.output == "{\"text\":\"x 0\"}\n{\"text\":\"x 1\"}\n")
    let requests = "{\"item\": \"a\"}\n{\n  \"item\": \"b\"\n}{\"item\": \"c\"}"
    #expect(
      try Run("call", server.target, "shop.Shop/BuyAll", "-d", "@-", input: requests).output
        == "{\"text\":\"a b c\"}\n"
    )
    let talk = try Run("call", server.target, "shop.Shop/Talk", input: requests)
    #expect(talk.output == ["a", "b", "c"].map { "{\"text\":\"you said \($0)\"}\n" }.joined())
    let text = try Run(
      "call",
      server.target,
      "shop.Shop/Talk",
      "--format",
      "text",
      input: "item: \"a\"\n---\nitem: \"b\"\n"
    )
    #expect(text.output == "text: \"you said a\"\ntext: \"you said b\"\n")
    #expect(text.errors == "")
  }

  @Test func answersWhileRequestsAreStillTyped() throws {
    let server = try GRPCIOServer()
    let talk = try ChildProcess(
      Command.path(ofProduct: "switchboard"),
      ["call", server.target, "shop.Shop/Talk"]
    )
    for word in ["one", "two"] {
      talk.write("{\"item\": \"\(word)\"}\n")
      #expect(talk.line() == "{\"text\":\"you said \(word)\"}")
    }
    talk.stop()
    #expect(talk.exitCode() == 0)
  }

  @Test func sendsMetadataDeadlinesAndCompressedRequests() throws {
    let server = try GRPCIOServer()
    let metadata = try Run(
      "call",
      server.target,
      "shop.Shop/Buy",
      "-d",
      #"{"item": "headers"}"#,
      "-H",
      "tenant: north",
      "-H",
      "trace-bin: AQI=",
      "--user-agent",
      "tests/1",
      "--compress",
      "gzip",
      "-v"
    )
    #expect(metadata.output.contains("tenant='north' trace-bin=b'\\\\x01\\\\x02' user-agent='tests/1 "))
    #expect(metadata.errors.contains("> tenant: north\n"))
    #expect(metadata.errors.contains("< served-by: grpcio\n"))
    #expect(metadata.errors.contains("< cost-bin: AQI"))
    for phase in ["name", "connect", "HTTP/2", "schema", "first byte", "last byte", "total"] {
      #expect(metadata.errors.contains("* \(phase) "), "\(phase)")
    }
    #expect(
      try Run("call", server.target, "shop.Shop/Buy", "-d", #"{"item": "deadline"}"#, "-t", "1m").output
        .contains("\"True\"")
    )
    let late = try Run(
      "call",
      server.target,
      "shop.Shop/Watch",
      "-d",
      #"{"item": "forever"}"#,
      "--deadline",
      "300ms"
    )
    #expect(late.exitCode == 4)
    #expect(late.output.hasPrefix("{\"text\":\"forever 0\"}\n"))
    #expect(late.errors.contains("DEADLINE_EXCEEDED"))
  }

  @Test func showsErrorsWithAllTheirDetails() throws {
    let server = try GRPCIOServer()
    let refused = try Run("call", server.target, "shop.Shop/Buy", "-d", #"{"item": "unicorn"}"#)
    #expect(refused.exitCode == 5)
    #expect(refused.output == "")
    #expect(refused.errors.hasPrefix("switchboard: \(server.target): NOT_FOUND: no unicorn left\ndetails:\n"))
    #expect(refused.errors.contains("\"description\": \"not sold here\""))
    // A type that no method uses, which reflection knows.
    #expect(
      refused.errors.contains("\"@type\": \"type.googleapis.com/shop.SoldOut\",\n    \"item\": \"unicorn\"")
    )
    #expect(refused.errors.contains(#"{"@type": "type.googleapis.com/nobody.Knows", "value": "CAE="}"#))
  }

  @Test func explainsInvalidRequests() throws {
    let server = try GRPCIOServer()
    let field = try Run("call", server.target, "shop.Shop/Buy", "-d", "{\n  \"itm\": \"tea\"\n}")
    #expect(field.exitCode == 65)
    #expect(
      field.errors.contains(
        "-d: Order: shop.Order has no field \"itm\" (line 2, column 3)\nDid you mean \"item\"?"
      )
    )
    // In the third line of the input, though the second of its message.
    let later = try Run(
      "call",
      server.target,
      "shop.Shop/Talk",
      input: "{\"item\": \"a\"}\n{\n  \"count\": \"x\"}"
    )
    #expect(later.exitCode == 65)
    #expect(later.errors.contains("standard input: Order.count: "))
    #expect(later.errors.contains("(line 3, column 13)"))
    let unfinished = try Run("call", server.target, "shop.Shop/Talk", input: "{\"item\": ")
    #expect(unfinished.exitCode == 65)
    #expect(unfinished.errors.contains("line 1"))
    let tooMany = try Run("call", server.target, "shop.Shop/Buy", "-d", "{}{}")
    #expect(tooMany.errors.contains("takes one request, but there are more"))
    #expect(try Run("call", server.target, "shop.Shop/Buy", "-d", "@/none").exitCode == 66)
  }

  @Test func suggestsSimilarNames() throws {
    let server = try GRPCIOServer()
    let method = try Run("call", server.target, "shop.Shop/Bui")
    #expect(method.exitCode == 5)
    #expect(method.errors.contains("shop.Shop has no method 'Bui'\nDid you mean Buy?"))
    let service = try Run("list", server.target, "shop.Shp")
    #expect(service.exitCode == 5)
    #expect(service.errors.contains("does not know 'shop.Shp'\nDid you mean shop.Shop?"))
    let message = try Run("describe", server.target, "shop.Oder")
    #expect(message.errors.contains("Did you mean shop.Order"))
    #expect(try Run("list", server.target, "shop.Order").errors.contains("not a service but a message"))
  }

  @Test func writesATemplateThatCanBeSent() throws {
    let server = try GRPCIOServer()
    let template = try Run("call", server.target, "shop.Shop/Buy", "--template")
    #expect(template.output.contains("\"kind\": \"KIND_UNKNOWN\""))
    #expect(template.output.contains("\"at\": \"1970-01-01T00:00:00Z\""))
    let sent = try Run("call", server.target, "shop.Shop/Buy", "-d", "@-", input: template.output)
    #expect(sent.exitCode == 0, "\(sent.errors)")
    let text = try Run("call", server.target, "shop.Shop/Buy", "--template", "--format", "text")
    #expect(text.output.contains("kind: KIND_UNKNOWN\n"))
    #expect(text.output.contains("when {\n  seconds: 0\n  nanos: 0\n}\n"))
    let sentText = try Run(
      "call",
      server.target,
      "shop.Shop/Buy",
      "--format",
      "text",
      "-d",
      "@-",
      input: text.output
    )
    #expect(sentText.exitCode == 0, "\(sentText.errors)")
  }

  @Test func worksWithoutReflection() throws {
    let server = try GRPCIOServer("--no-reflection")
    let list = try Run("list", server.target)
    #expect(list.exitCode == 12)
    #expect(list.errors.contains("has no reflection service"))
    #expect(list.errors.contains("'--proto FILE'"))
    let call = try Run(
      "call",
      server.target,
      "shop.Shop/Buy",
      "-d",
      #"{"item": "tea"}"#,
      "--proto",
      "shop.proto",
      "-I",
      Run.protos
    )
    #expect(call.output.contains("\"1 tea\""), "\(call.errors)")
  }

  @Test func checksHealth() throws {
    let server = try GRPCIOServer()
    let whole = try Run("health", server.target)
    #expect((whole.output, whole.exitCode) == ("SERVING\n", 0))
    let closed = try Run("health", server.target, "shop.Closed")
    #expect((closed.output, closed.exitCode) == ("NOT_SERVING\n", 14))
    #expect(try Run("health", server.target, "shop.Shop", "-q").output == "")
    let unknown = try Run("health", server.target, "none")
    #expect(unknown.exitCode == 5)
    #expect(unknown.errors.contains("does not know the health of 'none'"))

    let watch = try ChildProcess(
      Command.path(ofProduct: "switchboard"),
      ["health", server.target, "shop.Shop", "--watch"]
    )
    #expect(watch.line() == "SERVING")
    server.close()
    #expect(watch.line() == "NOT_SERVING")
    watch.send(SIGINT)
    #expect(watch.exitCode() == 130)
  }

  @Test func callsOverUnixSockets() throws {
    let path = NSTemporaryDirectory() + "command-\(UUID().uuidString.prefix(8)).sock"
    let server = try GRPCIOServer("--unix", path)
    let call = try Run("call", "unix:\(path)", "shop.Shop/Buy", "-d", #"{"item": "tea"}"#)
    #expect(call.output.contains("\"1 tea\""), "\(call.errors)")
    withExtendedLifetime(server) {}
  }

  // MARK: TLS

  @Test func callsOverTLS() throws {
    let files = try CertificateFiles()
    let server = try GRPCIOServer("--tls", files.serverCertificate, files.serverKey)
    let trusted = try Run("list", server.target, "--cacert", files.authority)
    #expect(trusted.output.contains("shop.Shop"), "\(trusted.errors)")
    let untrusted = try Run("list", server.target, "--tls")
    #expect(untrusted.exitCode == 14)
    #expect(untrusted.errors.contains("'--cacert FILE' trusts the authority in FILE."))
    let unchecked = try Run("list", server.target, "--insecure-skip-verify")
    #expect(unchecked.output.contains("shop.Shop"))
    #expect(unchecked.errors.contains("warning: the server's certificate is not checked"))
    let other = try Run("list", server.target, "--cacert", files.authority, "--server-name", "other.test")
    #expect(other.exitCode == 14)
    #expect(other.errors.contains("'--server-name NAME'"))
    let plain = try Run("list", server.target)
    #expect(plain.exitCode == 14)
    #expect(plain.errors.contains("'--tls' connects with TLS."), "\(plain.errors)")
    let verbose = try Run(
      "call",
      server.target,
      "shop.Shop/Buy",
      "--cacert",
      files.authority,
      "-v"
    )
    #expect(verbose.errors.contains("* TLS "), "\(verbose.errors)")
  }

  @Test func showsACertificate() throws {
    let files = try CertificateFiles()
    let server = try GRPCIOServer("--tls", files.serverCertificate, files.serverKey, files.authority)
    let known = try Run(
      "list",
      server.target,
      "--cacert",
      files.authority,
      "--cert",
      files.clientCertificate,
      "--key",
      files.clientKey
    )
    #expect(known.output.contains("shop.Shop"), "\(known.errors)")
    #expect(try Run("list", server.target, "--cacert", files.authority).exitCode == 14)
    #expect(
      try Run("list", server.target, "--cert", files.clientCertificate).errors.contains("--cert needs --key")
    )
    // It also asks for TLS, where that is not the default.
    #expect(try Run("list", "localhost:1", "--key", files.clientKey).errors.contains("--key needs --cert"))
  }

  // MARK: gRPC C++

  @Test func worksWithAServerInCPlusPlus() throws {
    let program = TestFolders.root.appending(path: ".build/peers/cpp_server").path
    let server = try ChildProcess(program, [])
    let target = "localhost:\(try #require(server.line()))"
    let services = try Run("list", target)
    #expect(services.output.contains("grpc.channelz.v1.Channelz\n"), "\(services.errors)")
    #expect(services.output.contains("grpc.reflection.v1alpha.ServerReflection\n"))
    let described = try Run("describe", target, "grpc.channelz.v1.Channelz")
    #expect(described.output.contains("rpc GetServers(GetServersRequest) returns (GetServersResponse);"))
    let called = try Run("call", target, "grpc.channelz.v1.Channelz/GetServers")
    #expect(called.output.contains("\"serverId\""), "\(called.errors)")
    #expect(try Run("health", target).output == "SERVING\n")
    let tree = try Run("channelz", target)
    #expect(tree.output.hasPrefix("server "), "\(tree.errors)")
    #expect(tree.output.contains("socket "))
    server.stop()
  }
}

/// The certificates of tests as files.
struct CertificateFiles {
  private let folder = NSTemporaryDirectory() + "certificates-\(UUID().uuidString)"

  init() throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, source) in [
      ("authority", TestCertificates.authority), ("server", TestCertificates.serverCertificate),
      ("server-key", TestCertificates.serverKey), ("client", TestCertificates.clientCertificate),
      ("client-key", TestCertificates.clientKey), ("expired", SpecialCertificates.expiredCertificate),
      ("expired-key", SpecialCertificates.expiredKey),
    ] {
      guard case .bytes(let bytes) = source else { continue }
      try Data(bytes).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
  }

  var authority: String { "\(folder)/authority" }
  var serverCertificate: String { "\(folder)/server" }
  var serverKey: String { "\(folder)/server-key" }
  var clientCertificate: String { "\(folder)/client" }
  var clientKey: String { "\(folder)/client-key" }
  /// That of a server, which expired in 2021.
  var expiredCertificate: String { "\(folder)/expired" }
  var expiredKey: String { "\(folder)/expired-key" }
}

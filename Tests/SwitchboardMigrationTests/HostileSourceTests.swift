import SwitchboardMigration
import Testing

/// Files that nobody would write: they are read in a time in proportion to their size, to the end, and without a trap.
@Suite(.timeLimit(.minutes(3))) struct HostileSourceTests {
  private static let size = 30_000

  private static func many(_ text: String) -> String {
    String(repeating: text, count: size / text.utf8.count)
  }

  private static let texts: [String] = [
    many("("), many(")"), many("{["), many("\"\\("), many("\"\\(\"\\(") + many(")"), many("/*"), many("#"),
    many("#\""), many("#/"),
    many("(\\/"), many("`"), many("\""), many("\"\"\""), many("import "), many("import GRPC;"),
    many("import GRPC\n"),
    many("protocol AInterceptorFactoryProtocol "), many("class A: B_CProvider {"), many("class A: B, "),
    many("try "),
    many("a."), many("a.wait()"), many("GRPCChannelPool.with(target: .host("),
    many("CallOptions(customMetadata: "),
    many("CallOptions(customMetadata: ") + many(")"), many("Server.insecure(group: x)"),
    many("B_CAsyncClient("),
    many("for (a, b, _) in headers "), many("headers.map { a, b, _ in "), many("let x = try Server "),
    many("$"),
    many("\u{E9}\u{301}"), many("a_AsyncClient "),
    many("let s = try await Server.insecure(group: g).withServiceProviders("),
    many("f(c: StatusOnlyCallContext) -> EventLoopFuture<A> { return "),
    many("f(c: StatusOnlyCallContext) -> EventLoopFuture<A> { return c.eventLoop.makeSucceededFuture("),
    "f(c: StatusOnlyCallContext) -> EventLoopFuture<A> {"
      + many("return c.eventLoop.makeSucceededFuture(f{\n") + many("})\n"),
    many("func f(") + many(")"), many("let ("), many("a in "),
    many("let r = ClientRequest(message: "), many("a.b(request: r) "),
    "import GRPCCore\n" + many("a.write."), "import GRPCCore\n" + many("a.write.") + "write(a)",
    "import GRPCCore\n" + many("{ a in a.write("), "import GRPCCore\n" + many("c.d { a in a.write(a) }"),
    "import GRPCCore\n" + many("struct A: ServerInterceptor { func intercept(ServerContext)"),
    "import GRPCCore\n" + many("RPCError(metadata: "), "let c: A_BNIOClient\n" + many("c.d("),
    many("let c: A_BNIOClient = c.d()\n"), many("extension A_BNIOClient { func "),
    many("extension A_BNIOClient { ") + many("}"), many("any GRPCChannel,"),
    many("CallOptions(customMetadata: [a.customMetadata, ") + many("])"),
  ]

  @Test(arguments: texts.indices) func isReadToItsEnd(_ index: Int) {
    let text = "import GRPC\n" + Self.texts[index]
    let migration = Package("// DO NOT EDIT. protoc-gen-grpc-swift\n" + text).migration(text)
    let isWritten = migration.changed.starts(with: "import Switchboard".utf8)
    #expect(isWritten || migration.changed == Array(text.utf8))
    _ = Package().migration(text, isManifest: true)
  }

  @Test(arguments: texts.indices) func anyBytesAreFine(_ index: Int) {
    var bytes = Array(("import GRPC\n" + Self.texts[index]).utf8.prefix(2000))
    for place in stride(from: 12, to: bytes.count, by: 7) {
      bytes[place] = UInt8(truncatingIfNeeded: place &* 31)
    }
    let once = FileMigration(bytes, isManifest: false, names: PackageNames(), .init()).changed
    #expect(FileMigration(once, isManifest: false, names: PackageNames(), .init()).changed == once)
  }

  @Test func whatIsShownIsShort() {
    let text = "import GRPC\nCallOptions(customMetadata: [\(Self.many("\"a\": \"b\", "))])"
    for finding in Package().migration(text).findings {
      #expect(
        finding.found.unicodeScalars.count < 100 && (finding.replacement ?? "").unicodeScalars.count < 100
      )
    }
  }
}

import SwitchboardMigration
import Testing

/// Whole files.
@Suite struct FileMigrationTests {
  @Test(arguments: [
    ("import GRPC\nimport NIOCore\nlet x: EventLoop", "import Switchboard\nlet x: EventLoop"),
    ("import NIOCore\nimport GRPC\n", "import Switchboard\n"),
    ("public import GRPC\n", "public import Switchboard\n"),
    ("import struct GRPC.CallOptions\n", "import struct Switchboard.CallOptions\n"),
    ("import GRPC\nimport NIOCore // for loops\n", "import Switchboard\nimport Switchboard // for loops\n"),
    ("import NIOHPACK\nfunc f(_ h: HPACKHeaders) {}", "import Switchboard\nfunc f(_ h: HPACKHeaders) {}"),
    ("import GRPC\r\nimport NIO\r\nlet a = 1\r\n", "import Switchboard\r\nlet a = 1\r\n"),
    ("import GRPC\nimport SwiftProtobuf\n", "import Switchboard\nimport SwitchboardProtobuf\n"),
    ("import Switchboard\nimport GRPC\n", "import Switchboard\n"),
    ("import GRPC\nimport NIOConcurrencyHelpers\n", "import Switchboard\n"),
    (
      "import GRPC\nimport NIOConcurrencyHelpers\nlet l = NIOLock()",
      "import Switchboard\nimport NIOConcurrencyHelpers\nlet l = NIOLock()"
    ),
    // NIO is needed for itself, or is not about gRPC.
    (
      "import GRPC\nimport NIOCore\nlet b = ByteBuffer()\ntypealias C = GRPC.GRPCChannel",
      "import Switchboard\nimport NIOCore\nlet b = ByteBuffer()\ntypealias C = Switchboard.Channel"
    ),
    (
      "import GRPC\nimport NIOCore\nlet b = ByteBuffer()",
      "import Switchboard\nimport NIOCore\nlet b = ByteBuffer()"
    ),
    ("import NIOCore\nlet b = 1", "import NIOCore\nlet b = 1"),
    ("@testable import GRPC\n", "import Switchboard\n"),
    ("import NIOCore\n@testable import GRPC\n", "import Switchboard\n"),
    (
      "#if canImport(NIOSSL)\nimport NIOSSL\n#endif\nimport GRPC\n",
      "#if canImport(NIOSSL)\nimport NIOSSL\n#endif\nimport Switchboard\n"
    ),
    ("import Foundation\nlet GRPC = 1\n", "import Foundation\nlet GRPC = 1\n"),
    (
      "import GRPC\nimport Logging\nlet l = Logger(label: \"x\")",
      "import Switchboard\nimport Logging\nlet l = Logging.Logger(label: \"x\")"
    ),
  ]) func importsFollow(_ old: String, _ new: String) {
    #expect(Package().changed(old) == new)
    #expect(Package().changed(new) == new)
  }

  /// Switchboard has a `CallHandlerProvider`, too.
  @Test func whatIsOursIsNoFinding() {
    #expect(Package().advice("import Switchboard\nstruct Shop: CallHandlerProvider {}\n").isEmpty)
    #expect(Package().advice("import GRPC\nstruct Shop: CallHandlerProvider {}\n").count == 1)
  }

  /// Modules that came with version 2 do not bring the rules of version 1.
  @Test func filesOfTheSecondVersionHaveItsRules() {
    let text =
      "import GRPCHealthService\nhealth.provider.updateStatus(.serving, forService: \"a\")\ntask.wait()\n"
    let changed = "import SwitchboardServices\nhealth.set(.serving, for: \"a\")\ntask.wait()\n"
    #expect(Package().changed(text) == changed)
    #expect(Package().advice(text) == [])
    // Both versions have this one.
    let shared = "import GRPCReflectionService\nlet m: Metadata\ntask.wait()\n"
    #expect(Package().advice(shared) == ["3: .wait()"])
    var names = PackageNames()
    for text in ["import GRPCCore\n", shared] { names.add(Array(text.utf8)) }
    let second = FileMigration(Array(shared.utf8), isManifest: false, names: names, MigrationSettings())
    #expect(second.findings.allSatisfy { $0.found != ".wait()" })
  }

  private static let handler = """
    import GRPC
    struct P {
      func get(request: A_Q, context: StatusOnlyCallContext) -> EventLoopFuture<A_R> {
        guard request.a else { return context.eventLoop.makeFailedFuture(GRPCStatus(code: .notFound)) }
        let response = A_R.with { $0.b = 1 }
        return context.eventLoop.makeSucceededFuture(response)
      }
      func put(request: A_Q, context: StatusOnlyCallContext) -> NIO.EventLoopFuture<A_R> {
        context.eventLoop.makeSucceededFuture(.with { $0.b = 2 })
      }
    }

    """

  @Test func handlersWhoseFuturesAreThereBecomeAsync() {
    let expected = """
      import Switchboard
      struct P {
        func get(request: A_Q, context: ServerCallContext) async throws -> A_R {
          guard request.a else { throw GRPCStatus(code: .notFound) }
          let response = A_R.with { $0.b = 1 }
          return response
        }
        func put(request: A_Q, context: ServerCallContext) async throws -> A_R {
          .with { $0.b = 2 }
        }
      }

      """
    #expect(Package().changed(Self.handler) == expected)
    #expect(Package().changed(expected) == expected)
    #expect(Package().advice(Self.handler).isEmpty)
  }

  @Test(arguments: [
    ("makeSucceededFuture(response)", "makeSucceededFuture(response).map { $0 }"),
    ("return context.eventLoop.makeSucceededFuture(response)", "return later(response)"),
    ("return context.eventLoop.makeSucceededFuture(response)", "later { return 1 }"),
    ("makeSucceededFuture(response)", "makeSucceededFuture(/* why */ response)"),
    ("makeSucceededFuture(response)", "makeSucceededFuture()"),
    ("makeSucceededFuture(response)", "makeSucceededFuture(response)\n      .map { $0 }"),
    ("makeSucceededFuture(response)", "makeSucceededFuture(response)\n      ?? later"),
    ("makeSucceededFuture(response)", "makeSucceededFuture(response)\n      as Later"),
    ("let response", "do { return context.eventLoop.makeFailedFuture(a) } catch { f() }\n    let response"),
    ("let response", "func f() -> Later { return context.eventLoop.makeFailedFuture(a) }\n    let response"),
    ("let response", "if a { f { return context.eventLoop.makeFailedFuture(a) } }\n    let response"),
    ("let response", "f(if: a) { return context.eventLoop.makeFailedFuture(a) }\n    let response"),
  ]) func otherFuturesAreLeftToAPerson(_ old: String, _ new: String) {
    let text = Self.handler.replacing(old, with: new)
    let changed = Package().changed(text)
    #expect(
      changed.contains("func get(request: A_Q, context: StatusOnlyCallContext) -> EventLoopFuture<A_R>")
    )
    #expect(changed.contains("func put(request: A_Q, context: ServerCallContext) async throws -> A_R"))
    #expect(Package().advice(text).contains("3: StatusOnlyCallContext"))
  }

  @Test func branchesOfAHandlerAreItsOwn() {
    let branches =
      "switch a {\ncase 1:\n  return b\ndefault: if c { f { 1 }; return d } else { return e }\n}\n"
    let futures = ["b", "d", "e"].reduce(branches) {
      $0.replacing("return \($1)", with: "return context.eventLoop.makeSucceededFuture(\($1))")
    }
    #expect(Package().changed(Self.handler(futures)) == Self.asyncHandler(branches))
  }

  /// The returns in its argument are those of closures.
  @Test func aFutureInAFutureStays() {
    let inner = "f {\nreturn c.eventLoop.makeSucceededFuture(1)\n}"
    let changed = Package().changed(Self.handler("return c.eventLoop.makeSucceededFuture(\(inner))\n"))
    #expect(changed == Self.asyncHandler("return \(inner)\n"))
  }

  private static func handler(_ body: String) -> String {
    "import GRPC\nfunc get(request: Q, context: StatusOnlyCallContext) -> EventLoopFuture<R> {\n\(body)}\n"
  }

  private static func asyncHandler(_ body: String) -> String {
    "import Switchboard\nfunc get(request: Q, context: ServerCallContext) async throws -> R {\n\(body)}\n"
  }

  @Test func filesWithoutGRPCStayAsTheyAre() {
    let text = "import Foundation\nlet c = Echo_EchoAsyncClient()\nfoo.wait()\n"
    #expect(Package().migration(text).findings.isEmpty)
  }

  @Test func commentsAndStringsAreLeftAlone() {
    let text = """
      import GRPC
      // Echo_EchoAsyncClient, GRPCChannel
      /* GRPCAsyncServerCallContext */
      let a = "Echo_EchoAsyncClient \\(x.customMetadata) GRPCChannel"
      let b = #"GRPCChannel \\(GRPCChannel)"#

      """
    let expected = text.replacing("import GRPC", with: "import Switchboard")
      .replacing("x.customMetadata", with: "x.initialMetadata")
    #expect(Package().changed(text) == expected)
  }

  @Test func messagesMayStay() {
    var package = Package()
    package.settings.keepsMessages = true
    let text = "import GRPC\nimport SwiftProtobuf\nlet d = try m.serializedData()\n"
    #expect(package.changed(text) == text.replacing("import GRPC", with: "import Switchboard"))
    #expect(package.advice(text) == [])
    #expect(Package().advice(text) == ["3: .serializedData"])
  }

  @Test func providersSayWhichInterceptorsTheyHave() {
    let text = "import GRPC\npublic final class P: Echo_EchoAsyncProvider {\n  init() {}\n}\n"
    let new =
      "import Switchboard\npublic final class P: Echo_EchoProvider {\n  public var interceptors: Interceptors? { nil }\n\n  init() {}\n}\n"
    #expect(Package().changed(text) == new)
    #expect(Package().changed(new) == new)
    let own = "import Switchboard\nstruct P: Echo_EchoProvider {\n  let interceptors: I? = nil\n}\n"
    #expect(Package().changed(own) == own)
    let twice = Package().changed("import Switchboard\nclass P: A_AProvider, B_BProvider {\n}\n")
    #expect(twice.split(separator: "var interceptors").count == 2, "\(twice)")
    let elsewhere = "import Switchboard\nclass P: A_AProvider {\n  func f() { let interceptors = 1 }\n}\n"
    #expect(Package().changed(elsewhere).contains("var interceptors"))
    // It may be in the extension.
    let extended =
      "import Switchboard\nclass P: A_AProvider {\n}\nextension P { var interceptors: I? { nil } }\n"
    #expect(Package().changed(extended) == extended)
    #expect(Package().advice(extended).count == 1)
  }

  @Test func factoryMethodsThatNothingCallsAreFound() {
    let generated = """
      // DO NOT EDIT.
      // Generated by the protocol buffer compiler.
      protocol Echo_EchoServerInterceptorFactoryProtocol {
        func makeGetInterceptors() -> [X]
      }
      """
    let text = """
      import GRPC
      struct F: Echo_EchoServerInterceptorFactoryProtocol {
        func makeGetInterceptors() -> [X] { [] }
        func makeOldInterceptors() -> [X] { [] }
        private func makeSharedInterceptors() -> [X] { [] }
        func makeInterceptors() -> [X] { [] }
      }
      """
    #expect(Package(generated).advice(text) == ["4: func makeOldInterceptors"])
  }

  @Test func generatedFilesAreKnown() {
    let services = "// DO NOT EDIT.\n// Generated by the protocol buffer compiler."
    #expect(GeneratedFile.generator(of: Array(services.utf8)) == "protoc-gen-grpc-swift")
    let messages =
      "// DO NOT EDIT.\n// Generated by the Swift generator plugin for the protocol buffer compiler."
    #expect(GeneratedFile.generator(of: Array(messages.utf8)) == "protoc-gen-swift")
    let second =
      "// DO NOT EDIT.\n// Generated by the gRPC Swift generator plugin for the protocol buffer compiler."
    #expect(GeneratedFile.generator(of: Array(second.utf8)) == "protoc-gen-grpc-swift-2")
    #expect(
      GeneratedFile.generator(of: Array("// Generated by Switchboard from a.proto. Do not edit.".utf8)) == nil
    )
  }

  @Test func findingsHaveTheirLines() {
    let findings = Package().migration("import GRPC\n\nlet c: GRPCChannel\n").findings
    #expect(findings.map(\.line) == [1, 3])
    #expect(findings.map(\.replacement) == ["import Switchboard", "Channel"])
    #expect(Package().migration("import GRPC\n\nlet c: GRPCChannel\n").changes == 2)
  }
}

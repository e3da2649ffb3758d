// What the examples in doc comments and documents use without declaring it; `scripts/check/doc-examples` compiles them behind this
// file.
import Dispatch
import EchoService
import Switchboard
import SwitchboardInterceptors
import SwitchboardServices
import SwitchboardTelemetry
import Synchronization

// A service with a .proto file.
typealias Hello_GreeterClient = Echo_EchoClient
typealias Hello_GreetReply = Echo_EchoResponse
typealias Note = Echo_EchoRequest
typealias Change = Echo_EchoResponse

struct Hello_GreetRequest {
  var name = ""
}

extension Note {
  init(text: String) {
    self.init()
    self.text = text
  }
}

struct Summary {
  var count = 0
}

final class ShopProvider: Echo_EchoProvider {
  var interceptors: Interceptors? { nil }

  func get(request: Note, context: ServerCallContext) async throws -> Hello_GreetReply { .init() }
  func expand(
    request: Note,
    responseStream: ResponseStreamWriter<Hello_GreetReply>,
    context: ServerCallContext
  ) async throws {}
  func collect(
    requestStream: RequestStream<Note>,
    context: ServerCallContext
  ) async throws -> Hello_GreetReply { .init() }
  func update(
    requestStream: RequestStream<Note>,
    responseStream: ResponseStreamWriter<Hello_GreetReply>,
    context: ServerCallContext
  ) async throws {}
}

typealias EchoProvider = ShopProvider
typealias Greeter = ShopProvider
typealias BooksProvider = ShopProvider

// A service that is described in Swift.
struct Query: Codable, Sendable {
  var name = ""
}

struct Item: Codable, Sendable {
  var name = ""
  var count = 0
}

enum Stock {
  static let find = CodableMethod<Query, Item>("shop.Stock", "Find", .unary)
  static let follow = CodableMethod<Query, Item>("shop.Stock", "Follow", .bidirectionalStreaming)
  static let service = ServiceDescriptor("shop.Stock", [find.descriptor, follow.descriptor])
}

struct TextMarshaller: Marshaller {
  func encode(_ text: String) throws -> MessageBuffer { MessageBuffer(text.utf8) }
  func decode(_ bytes: RawSpan) throws -> String {
    bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
}

// What a program has. Nothing here runs.
var channel: Channel { fatalError() }
var client: Hello_GreeterClient { fatalError() }
var echo: Hello_GreeterClient {
  get { fatalError() }
  set {}
}
var stock: MethodClient { fatalError() }
var channelToTheStock: Channel { fatalError() }
var providers: [any CallHandlerProvider] { fatalError() }
var health: HealthService { fatalError() }
var telemetry: Telemetry { fatalError() }
var server: Server { fatalError() }
var request: Note { fatalError() }
var notes: [Note] { fatalError() }
var question: Note { fatalError() }
var message: [UInt8] { fatalError() }
var context: ServerCallContext { fatalError() }
var changes: AsyncStream<Change> { fatalError() }
var responseStream: ResponseStreamWriter<Change> { fatalError() }
var key: [UInt8] { fatalError() }
var token: String { fatalError() }
var part: GRPCClientRequestPart<Note> { fatalError() }
var credentials: TLSCredentials { fatalError() }
var endpoint: Endpoint {
  get { fatalError() }
  set {}
}
var options: ServerOptions {
  get { fatalError() }
  set {}
}
var serverOptions: ServerOptions {
  get { fatalError() }
  set {}
}
var channelOptions: ChannelOptions {
  get { fatalError() }
  set {}
}
var metrics: (text: String, count: Int) { fatalError() }
var queue: (fill: Double, count: Int) { fatalError() }
var rate: Double { fatalError() }
var rows: [Item] { fatalError() }
let printer = Printer<Item>()
let replyPrinter = Printer<Hello_GreetReply>()
let bytePrinter = Printer<[UInt8]>()

final class Printer<Response: Sendable>: ResponseHandler {
  let dispatchQueue = DispatchQueue(label: "responses")
  func receivedMessage(_ response: Response) { print(response) }
  func closed(trailingMetadata: HPACKHeaders, error: GRPCStatus?) {}
}

func fetchToken() async throws -> String { token }

// What the examples of this one are about is made in others.
final class Tagging<Request: Sendable, Response: Sendable>: ClientInterceptor<Request, Response> {}

struct Tracing: InterceptorFactory {
  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [Tagging()] }

  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [] }
}

struct KeyGuard: ServerGuard {
  func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {}
}

enum UserName: UserInfoKey { typealias Value = String }

var policy: RetryPolicy { fatalError() }
var host: any BalancerHost { fatalError() }

final class FirstBalancer: LoadBalancer {
  struct Config: Hashable, Sendable {
    var waits: Bool
  }

  init(_ host: any BalancerHost) {}
  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {}
  func resolverFailed(_ status: GRPCStatus) {}
  func leaveIdle() {}
  func shutDown() {}
}

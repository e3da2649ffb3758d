import EchoService
import GRPC
import NIOCore
import NIOPosix

/// Repeats what it is told, in the style of grpc-swift 1.
final class Repeater: Echo_EchoAsyncProvider {
  private let greeting: String

  init(greeting: String) { self.greeting = greeting }

  func get(request: Echo_EchoRequest, context: GRPCAsyncServerCallContext) async throws -> Echo_EchoResponse {
    guard !request.text.isEmpty else { throw GRPCStatus.processingError }
    context.request.logger.info("asked for \(request.text)")
    try await context.response.setTrailers(["length": "\(request.text.count)"])
    return .with { $0.text = greeting + request.text }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: GRPCAsyncResponseStreamWriter<Echo_EchoResponse>,
    context: GRPCAsyncServerCallContext
  ) async throws {
    for word in request.text.split(separator: " ") { try await responseStream.send(.with { $0.text = String(word) }) }
  }

  func collect(
    requestStream: GRPCAsyncRequestStream<Echo_EchoRequest>,
    context: GRPCAsyncServerCallContext
  ) async throws -> Echo_EchoResponse {
    let tenant = context.request.headers.first(name: "tenant") ?? "nobody"
    let text = try await requestStream.reduce(into: tenant) { all, request in all += request.text }
    return .with { $0.text = text }
  }

  func update(
    requestStream: GRPCAsyncRequestStream<Echo_EchoRequest>,
    responseStream: GRPCAsyncResponseStreamWriter<Echo_EchoResponse>,
    context: GRPCAsyncServerCallContext
  ) async throws {
    for try await request in requestStream { try await responseStream.send(.with { $0.text = request.text }) }
  }
}

/// Serves until it is stopped.
func serve(port: Int) async throws {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount)
  defer { try! group.syncShutdownGracefully() }
  let server = try await Server.insecure(group: group)
    .withServiceProviders([Repeater(greeting: "> ")])
    .bind(host: "127.0.0.1", port: port)
    .get()
  print("listening on \(server.channel.localAddress!), port \(server.channel.localAddress!.port!)")
  try await server.onClose.get()
}

/// Answers in the style of futures.
final class Answerer: Sendable {
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  func get(request: Echo_EchoRequest, context: StatusOnlyCallContext) -> EventLoopFuture<Echo_EchoResponse> {
    guard !request.text.isEmpty else {
      return context.eventLoop.makeFailedFuture(GRPCStatus.processingError)
    }
    return context.eventLoop.makeSucceededFuture(.with { $0.text = request.text })
  }
}

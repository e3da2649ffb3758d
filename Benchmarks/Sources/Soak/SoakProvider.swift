import BenchService
import Switchboard

/// The service of the benchmarks, with compressed responses if the client accepts them.
struct SoakProvider: Bench_BenchProvider {
  var interceptors: Interceptors? { nil }

  private let plain = BenchProvider()

  func unary(request: Bench_Text, context: ServerCallContext) async throws -> Bench_Text {
    context.setCompression(.gzip)
    return try await plain.unary(request: request, context: context)
  }

  func serverStream(
    request: Bench_Plan,
    responseStream: ResponseStreamWriter<Bench_Chunk>,
    context: ServerCallContext
  ) async throws {
    try await plain.serverStream(request: request, responseStream: responseStream, context: context)
  }

  func clientStream(
    requestStream: RequestStream<Bench_Chunk>,
    context: ServerCallContext
  ) async throws -> Bench_Plan {
    try await plain.clientStream(requestStream: requestStream, context: context)
  }

  func bidi(
    requestStream: RequestStream<Bench_Text>,
    responseStream: ResponseStreamWriter<Bench_Text>,
    context: ServerCallContext
  ) async throws {
    context.setCompression(.deflate)
    try await plain.bidi(requestStream: requestStream, responseStream: responseStream, context: context)
  }
}

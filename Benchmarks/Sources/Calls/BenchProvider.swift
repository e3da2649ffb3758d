import BenchService
import Switchboard

/// The service of the workload, as a user would write it.
struct BenchProvider: Bench_BenchProvider {
  var interceptors: Interceptors? { nil }

  func unary(request: Bench_Text, context: ServerCallContext) async throws -> Bench_Text {
    .with { $0.text = request.text }
  }

  func serverStream(
    request: Bench_Plan,
    responseStream: ResponseStreamWriter<Bench_Chunk>,
    context: ServerCallContext
  ) async throws {
    let chunk = Bench_Chunk.with { $0.payload = [UInt8](repeating: 0x78, count: Int(request.bytes)) }
    for _ in 0..<request.messages { try await responseStream.send(chunk) }
  }

  func clientStream(
    requestStream: RequestStream<Bench_Chunk>,
    context: ServerCallContext
  ) async throws -> Bench_Plan {
    var plan = Bench_Plan()
    for try await chunk in requestStream {
      plan.messages += 1
      plan.bytes = UInt32(clamping: chunk.payload.count)
    }
    return plan
  }

  func bidi(
    requestStream: RequestStream<Bench_Text>,
    responseStream: ResponseStreamWriter<Bench_Text>,
    context: ServerCallContext
  ) async throws {
    for try await request in requestStream {
      try await responseStream.send(.with { $0.text = request.text })
    }
  }
}

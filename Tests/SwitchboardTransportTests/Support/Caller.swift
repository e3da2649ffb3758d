import CallTestSupport
import SwitchboardCall

/// A client of `TestService`, with the shape of a generated one.
struct Caller {
  let channel: Channel

  func get(
    _ method: MethodDescriptor = TestService.get,
    _ request: [UInt8] = [1, 2, 3],
    options: CallOptions? = nil
  ) async throws -> [UInt8] {
    try await channel.call(method, options: options).unary(request)
  }

  func expand(_ method: MethodDescriptor, _ request: [UInt8]) -> ResponseStream<[UInt8]> {
    channel.call(method).serverStreaming(request)
  }

  func collect(_ method: MethodDescriptor, _ requests: [[UInt8]]) async throws -> [UInt8] {
    try await channel.call(method).clientStreaming(requests)
  }

  func collect(
    _ method: MethodDescriptor,
    _ requests: some AsyncSequence<[UInt8], Never> & Sendable
  ) async throws -> [UInt8] {
    try await channel.call(method).clientStreaming(requests)
  }

  func update(_ requests: [[UInt8]]) -> ResponseStream<[UInt8]> {
    channel.call(TestService.update).bidirectionalStreaming(requests)
  }
}

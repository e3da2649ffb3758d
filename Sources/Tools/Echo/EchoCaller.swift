import EchoService
import Switchboard

/// Makes one call and prints its responses. Use it on the channel's event loop, so that its output and that of an
/// interceptor appear in the order of the call.
struct EchoCaller {
  let client: Echo_EchoClient

  /// Makes a call and returns its status.
  func call(_ rpc: Arguments.RPC, _ message: String) async throws -> GRPCStatus {
    switch rpc {
    case .get: try await get(message)
    case .expand: try await expand(message)
    case .collect: try await collect(message)
    case .update: try await update(message)
    }
  }

  private func get(_ message: String) async throws -> GRPCStatus {
    let call = client.makeGetCall(.with { $0.text = message })
    call.whenResponse { if case .success(let response) = $0 { print("get received: \(response.text)") } }
    return await call.status
  }

  private func expand(_ message: String) async throws -> GRPCStatus {
    let call = client.makeExpandCall(.with { $0.text = message })
    try await printAll(call.responseStream, "expand")
    return await call.status
  }

  private func collect(_ message: String) async throws -> GRPCStatus {
    let call = client.makeCollectCall()
    call.whenResponse { if case .success(let response) = $0 { print("collect received: \(response.text)") } }
    for request in requests(message) { try await call.requestStream.send(request) }
    call.requestStream.finish()
    return await call.status
  }

  private func update(_ message: String) async throws -> GRPCStatus {
    let call = client.makeUpdateCall()
    for request in requests(message) { try await call.requestStream.send(request) }
    call.requestStream.finish()
    try await printAll(call.responseStream, "update")
    return await call.status
  }

  private func requests(_ message: String) -> [Echo_EchoRequest] {
    message.split(separator: " ").map { word in .with { $0.text = String(word) } }
  }

  private func printAll(_ responses: ResponseStream<Echo_EchoResponse>, _ rpc: String) async throws {
    do {
      for try await response in responses { print("\(rpc) received: \(response.text)") }
    } catch is GRPCStatus {
      // The status of the call says the same and is printed below.
    }
  }
}

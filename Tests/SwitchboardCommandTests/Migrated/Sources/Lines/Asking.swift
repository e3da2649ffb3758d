import EchoService
import GRPC
import NIOCore
import NIOHPACK
import NIOPosix

/// Asks a server in the style of grpc-swift 1.
struct Asker {
  let client: Echo_EchoAsyncClient

  init(channel: GRPCChannel) {
    client = Echo_EchoAsyncClient(channel: channel, interceptors: Stamps())
  }

  func ask(_ words: [String]) async throws -> [String] {
    let options = CallOptions(customMetadata: ["tenant": "north"], timeLimit: .timeout(.seconds(5)))
    var answers: [String] = []
    for try await answer in client.update(words.map { word in .with { $0.text = word } }, callOptions: options) {
      answers.append(answer.text)
    }
    let call = client.makeGetCall(.with { $0.text = "the last" }, callOptions: options)
    answers.append(try await text(call))
    return answers + [shown(try await call.trailingMetadata)]
  }

  private func text(_ call: GRPCAsyncUnaryCall<Echo_EchoRequest, Echo_EchoResponse>) async throws -> String {
    try await call.response.text
  }

  /// Asks without compression, and waits for up to two hours.
  func askLong() async throws -> String {
    var options = CallOptions(timeLimit: .timeout(.minutes(90)))
    options.timeLimit = TimeLimit.timeout(TimeAmount.hours(2))
    let call = client.makeCollectCall(callOptions: options)
    try await call.requestStream.send(.with { $0.text = "plain" }, compression: .disabled)
    call.requestStream.finish()
    return try await Echo_EchoClientMetadata.Methods.collect.path + call.response.text
  }

  private func shown(_ headers: HPACKHeaders) -> String {
    var lines = headers.map { name, value, _ in "\(name): \(value)" }
    for (name, _, _) in headers { lines.append(name) }
    headers.forEach { (name, value, _) in lines.append(value) }
    for (name, value, _) in headers where value.isEmpty { lines.append(name) }
    return lines.joined(separator: ", ")
  }
}

/// Asks the server on this machine, and one far away.
func ask(port: Int) async throws -> [String] {
  let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
  defer { try! group.syncShutdownGracefully() }
  let near = try GRPCChannelPool.with(
    target: .host("localhost", port: port),
    transportSecurity: .plaintext,
    eventLoopGroup: group
  )
  defer { try! near.close().wait() }
  let far = ClientConnection.usingPlatformAppropriateTLS(for: group).connect(host: "echo.example", port: port)
  return try await Asker(channel: near).ask(["one", "two"]) + Asker(channel: far).ask([])
}

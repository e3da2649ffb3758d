/// Threads that wait for futures.
enum WaitingRules {
  static let all: [Rule] = [
    .advise(
      ".wait()",
      "Nothing blocks a thread here: try await the call, or 'response', 'status', 'get()' of what is waited for."
    ),
    .advise(".response.whenComplete", "Use client.makeGetCall(request).whenResponse { }, or try await."),
    .advise(".sendMessage", "Use try await call.requestStream.send(_:)."),
    .advise(".sendEnd", "Use call.requestStream.finish()."),
  ]
}

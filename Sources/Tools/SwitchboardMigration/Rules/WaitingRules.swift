/// Threads that wait for futures, and messages that are sent.
enum WaitingRules {
  static let all = waiting + sending

  private static let waiting: [Rule] = [
    .remove(
      "defer { $effects $NAME.close().wait() }",
      if: .isDeclared("NAME", as: .channel),
      .beginsLine,
      because: "a channel closes when nothing keeps it"
    ),
    .advise(
      ".wait()",
      "Nothing blocks a thread here: try await the call, or 'response', 'status', 'get()' of what is waited for."
    ),
    .advise(
      ".response.get",
      "A client's unary method returns the response: try await client.get(request). Of another call: try await call.response."
    ),
    .advise(".response.whenComplete", "Use client.makeGetCall(request).whenResponse { }, or try await."),
    .advise(".status.whenComplete", "Use await call.status, with let call = client.makeGetCall(request)."),
    .advise(".sendMessage", "Use try await call.requestStream.send(_:)."),
    .change(".sendEnd(promise: nil)", to: ".requestStream.finish()"),
    .advise(".sendEnd", "Use call.requestStream.finish()."),
  ]

  private static let sending: [Rule] = [
    .advise("requestStream.send([", sequence),
    // The name of a sequence is a plural.
    .advise("requestStream.send(*s)", sequence),
    .advise("requestStream.send(*s,", sequence),
    .advise(
      ".send(contentsOf: $messages, compression",
      "Send each: for message in messages { try await responseStream.send(message, compress: false) }"
    ),
    .change(".send($message, compression: .disabled)", to: ".send($message, compress: false)"),
    .change(".send($message, compression: .enabled)", to: ".send($message, compress: true)"),
    .change(".send($message, compression: .deferToCallDefault)", to: ".send($message)"),
    .advise(".send($message, compression", "Use compress:, a Bool."),
  ]

  private static let sequence =
    "Of a sequence: try await call.requestStream.send(contentsOf: requests). One that is asynchronous is sent one by one."
}

import KindsService
import Switchboard
import TestMessages

/// `switchboard.testing.Kinds`, as its `.proto` file says.
struct KindsProvider: Switchboard_Testing_KindsProvider {
  var interceptors: Interceptors? { nil }

  func echoThree(request: Switchboard_Testing_AllKinds3, context: ServerCallContext) async throws
    -> Switchboard_Testing_AllKinds3
  {
    request
  }

  func echoTwo(request: Switchboard_Testing_AllKinds2, context: ServerCallContext) async throws
    -> Switchboard_Testing_AllKinds2
  {
    request
  }

  func say(request: Switchboard_Testing_Word, context: ServerCallContext) async throws
    -> Switchboard_Testing_Word
  {
    switch request.text {
    case "fail": throw GRPCStatus(code: .notFound, message: "no such word")
    case "wait": try await Task.sleep(for: .seconds(600))
    case "metadata":
      context.setInitialMetadata(["served-by": "switchboard"])
      context.setTrailers(["tenant-was": context.headers["tenant"].first ?? "none"])
    default: break
    }
    return request
  }

  func join(requestStream: RequestStream<Switchboard_Testing_Word>, context: ServerCallContext) async throws
    -> Switchboard_Testing_Word
  {
    var words: [String] = []
    for try await word in requestStream { words.append(word.text) }
    return .with { $0.text = words.joined(separator: " ") }
  }

  func `repeat`(
    request: Switchboard_Testing_Word,
    responseStream: ResponseStreamWriter<Switchboard_Testing_Word>,
    context: ServerCallContext
  ) async throws {
    for number in 0..<(request.count == 0 ? Int32.max : request.count) {
      try await responseStream.send(
        .with {
          $0.text = request.text
          $0.count = number
        }
      )
    }
  }

  func talk(
    requestStream: RequestStream<Switchboard_Testing_Word>,
    responseStream: ResponseStreamWriter<Switchboard_Testing_Word>,
    context: ServerCallContext
  ) async throws {
    for try await word in requestStream {
      try await responseStream.send(.with { $0.text = "you said \(word.text)" })
    }
  }

  func former(request: Switchboard_Testing_Word, context: ServerCallContext) async throws
    -> Switchboard_Testing_Word
  {
    request
  }
}

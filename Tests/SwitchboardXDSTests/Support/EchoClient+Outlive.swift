import EchoService
import Switchboard
import Testing

extension Echo_EchoClient {
  /// Makes a call that goes on while `body` runs, to its end.
  func outlive(_ body: () async throws -> Void) async throws {
    let call = makeUpdateCall()
    try await call.requestStream.send(.with { $0.text = "before" })
    var replies = call.responseStream.makeAsyncIterator()
    #expect(try await replies.next()?.text == "before")
    try await body()
    try await call.requestStream.send(.with { $0.text = "after" })
    #expect(try await replies.next()?.text == "after")
    call.requestStream.finish()
    #expect(try await replies.next() == nil)
  }
}

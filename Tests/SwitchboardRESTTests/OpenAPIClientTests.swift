import SwitchboardOpenAPI
import SwitchboardREST
import TestSupport
import Testing

/// The document of a server, with a validator and a generator of clients from PyPI.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OpenAPIClientTests {
  @Test func aGeneratedClientCallsTheServer() async throws {
    let document = try OpenAPIDocument(describing: [RESTProvider()])
    var options = RESTOptions()
    options.document = ("/openapi.json", Array(document.json.utf8))
    let lines = try await withRESTServer(options) { address in
      let peer = try PythonPeer("openapi_peer.py", [address])
      var lines: [String] = []
      while let line = peer.line() { lines.append(line) }
      peer.stop()
      return lines
    }
    #expect(lines == ["done"])
  }
}

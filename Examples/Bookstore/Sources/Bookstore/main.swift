import Foundation
import Switchboard
import SwitchboardOpenAPI
import SwitchboardREST

// One server, one port: gRPC, Connect, REST, the page that uses both, and the document that describes REST.
//
//     swift run Bookstore 8080        and then open http://127.0.0.1:8080/
let words = CommandLine.arguments.dropFirst()
guard words.count <= 1, let port = Int(words.first ?? "8080"), (0...65535).contains(port) else {
  complain("usage: Bookstore [PORT]")
  exit(64)
}
do {
  try await serve(port)
} catch {
  complain("Bookstore: \(GRPCStatus(describing: error))")
  exit(1)
}

func serve(_ port: Int) async throws {
  let providers: [any CallHandlerProvider] = [BooksProvider()]

  var about = OpenAPIOptions()
  about.title = "Bookstore"
  let document = try OpenAPIDocument(describing: providers, options: about)
  var rest = RESTOptions()
  rest.document = ("/openapi.json", Array(document.json.utf8))

  var options = ServerOptions()
  // The page is served from here, so pages of other origins need not call.
  options.web = WebOptions(origins: .only(["http://127.0.0.1:\(port)", "http://localhost:\(port)"]))
  options.payloadFormats = [JSONFormat()]  // for Connect
  options.pages.append(
    HTTPPage("GET", "/") { _ in HTTPPage.Response(contentType: "text/html", body: Page.html.utf8) }
  )
  try options.serveREST(providers, options: rest)

  let server = try Server(providers: providers, options: options)
  let address = try server.bind(host: "127.0.0.1", port: port)
  try await server.run {
    print("http://127.0.0.1:\(address.port)/")
    // Whoever reads this through a pipe waits for it.
    fflush(nil)
  }
}

func complain(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

import Switchboard
import SwitchboardOpenAPI
import SwitchboardREST

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

// One server, one port: gRPC, Connect, REST, the page that uses both, and the document that describes REST.
//
//     swift run Bookstore 8080        and then open http://127.0.0.1:8080/
let port = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 8080
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
await server.run {
  print("http://127.0.0.1:\(address.port ?? port)/")
  // Whoever reads this through a pipe waits for it.
  fflush(nil)
}

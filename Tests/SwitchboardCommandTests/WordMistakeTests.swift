import SwitchboardCommand
import TestSupport
import Testing

/// Words in the wrong place, and names that are almost right.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct WordMistakeTests {
  /// `PROTO` is the file of the service `shop.Shop`.
  @Test(arguments: [
    (#"call localhost:1 shop.Shop/Buy {"item":"tea"}"#, "A request follows the flag -d."),
    ("load localhost:1 shop.Shop/Buy @order.json", "A request follows the flag -d."),
    ("call localhost:1 shop.Shop/Buy -data {}", "call has no flag '-data'\nDid you mean --data?"),
    ("call localhost:1 shop.Shop/Buy -vt 3s", "write each flag apart, as in -v -t"),
    ("call localhost:1 shop.Shop/Buy --verbose=true", "--verbose takes no value"),
    ("call localhost:1 shop.Shop/Buy -t", "-t needs a value: TIME"),
    ("load localhost:1 shop.Shop/Buy -n -1", "--calls needs a whole number"),
    ("call shop.Shop/Buy localhost:1", "TARGET is HOST[:PORT], and the name of a method comes after it"),
    ("-v", "a verb comes first, and '-v' is a flag"),
    ("call localhost:1 Buy", "METHOD is package.Service/Method, and 'Buy' is not"),
    ("call localhost:1 shop.Shop --proto PROTO", "shop.Shop is a service, and METHOD is one of its methods"),
    ("call localhost:1 shop.Shop/ --proto PROTO", "They are shop.Shop/Buy, shop.Shop/"),
    ("call localhost:1 shop.Shop. --proto PROTO", "They are shop.Shop/Buy, shop.Shop/"),
    ("call localhost:1 shop.Shop/buy --proto PROTO", "Did you mean Buy"),
    ("call localhost:1 shop.Shop/Buy. --proto PROTO", "Did you mean Buy"),
    ("list shop.Shop/Buy --proto PROTO", "shop.Shop.Buy is not a service but a method"),
    ("list shop.Shop. --proto PROTO", "Did you mean shop.Shop"),
    ("list -l --json --proto PROTO", "--json and --long contradict each other"),
    ("list localhost:1 -plaintext", "list has no flag '-plaintext'\nDid you mean --plaintext?"),
    ("list localhost:1 -proto=PROTO", "list has no flag '-proto'\nDid you mean --proto?"),
    ("call localhost:1 a.B/C --timeout 1s", "call has no flag '--timeout'\nDid you mean --deadline?"),
    ("call localhost:1 a.B/C -max-time 1", "call has no flag '-max-time'\nDid you mean --deadline?"),
    ("list localhost:1 -import-path .", "list has no flag '-import-path'\nDid you mean --include?"),
    ("list --tls --proto PROTO", "--tls is about a server"),
    ("load localhost:1 a.B/C --agent x:1", "load has no flag '--agent'\nDid you mean --agents?"),
    ("console localhost:1 --listen 127.0.0.1:1", "console has no flag '--listen'\nDid you mean --port?"),
    ("mock PROTO --port 1", "mock has no flag '--port'\nDid you mean --listen?"),
    (
      "health localhost:1 --service shop.Shop",
      "health has no flag '--service'\nSERVICE has no flag before it: 'health TARGET SERVICE'."
    ),
    ("openapi localhost:1 --out x", "openapi has no flag '--out'\nDid you mean --output?"),
    ("list localhost:1 -o x", "The result is on standard output, which '> FILE' keeps."),
    ("describe localhost:1 --output=x", "The result is on standard output, which '> FILE' keeps."),
    (
      "call localhost 50051 shop.Shop/Buy",
      "'50051' is a port, which follows its host after a colon\nWrite 'localhost:50051'."
    ),
    ("list localhost 50051", "Write 'localhost:50051'."),
    ("health shop.example 443", "Write 'shop.example:443'."),
    ("list localhost:1 443", "UNAVAILABLE"),
    ("openapi --proto PROTO shop.Shop", "unexpected argument: 'shop.Shop': the document has all services"),
    (
      "mock localhost:7411",
      "'localhost:7411' is not a FILE.proto\n'--record localhost:7411' records from that server, and '--listen "
        + "localhost:7411' serves there."
    ),
    ("mock https://shop.example", "'--record https://shop.example' records from that server"),
    (
      "mock PROTO --listen :61061",
      "--listen :61061 has no address before its port\n'--listen 127.0.0.1:61061' is for this machine, '--listen 0.0.0.0:61061'"
    ),
    ("mock PROTO --listen *:61061", "--listen *:61061 has no address before its port"),
    ("mock PROTO --listen 127.0.0.1:99999", "--listen 127.0.0.1:99999: the port must be 0 to 65535"),
    ("load-agent --listen :61061", "--listen :61061 has no address before its port"),
    (
      "mock PROTO --listen http://localhost:61061",
      "--listen http://localhost:61061 is not HOST:PORT\nWrite '--listen localhost:61061'."
    ),
    (
      "mock PROTO --listen shop.example:1",
      "--listen shop.example:1: shop.example is not an address, and names"
    ),
    ("mock PROTO --listen unix:/run/shop:1", "--listen unix:/run/shop:1 is the path of a socket"),
    (
      "mock PROTO --origin *",
      "--origin '*' is not an origin as browsers write it: such as https://app.example, in lower case, without a path, a "
        + "wildcard and the scheme's own port\n'--origin any' lets the pages of all origins call."
    ),
    ("mock PROTO --origin HTTPS://a.example", "is not an origin as browsers write it"),
    ("load-agent --listen 0.0.0.0:0 --token short", "has at least 16 characters"),
    (
      "load localhost:1 shop.Shop/Buy --proto PROTO -d {} --agents a:1,b:2,a:1 --agent-token x",
      "--agents names a:1 twice"
    ),
    ("mock PROTO --origin localhost:5173", "--origin 'localhost:5173' is not an origin as browsers write it"),
    (
      "mock PROTO --origin null --listen a.b:1",
      "switchboard: warning: --origin null: any site can make a page without an origin"
    ),
    (#"load localhost:1 shop.Shop/Buy --proto PROTO -d {"item":"a"}{"item":"b"}"#, "sent in turn: -d @FILE."),
    (
      "load localhost:1 shop.Shop/Buy --proto PROTO -o report.html",
      "'--save report.html' writes the report to a file."
    ),
  ]) func eachIsExplained(_ line: String, _ explanation: String) throws {
    let words = line.split(separator: " ").map { $0 == "PROTO" ? Run.protos + "/shop.proto" : String($0) }
    let run = try Command.product("switchboard", words)
    #expect([5, 14, 64, 65].contains(run.exitCode))
    #expect(run.errors.contains(explanation), "\(run.errors)")
    // A user of the command has flags.
    for option in ["Options", "bind(", "write host:", ".any"] {
      #expect(!run.errors.contains(option), "\(run.errors)")
    }
  }

  @Test func aFileInPlaceOfAServerIsNamed() throws {
    let run = try Command.product("switchboard", ["list", "shop.proto"], in: Run.protos)
    #expect(run.exitCode == 64)
    #expect(
      run.errors == "switchboard: 'shop.proto' is not a server: it is a file\nWrite '--proto shop.proto'.\n"
    )
    for verb in ["list", "describe"] {
      for (path, reason) in [
        (Run.protos + "/shop.proto", "it is a file"), ("./none.proto", "it ends as the names of files do"),
      ] {
        let run = try Command.product("switchboard", [verb, path, "shop.Shop"])
        #expect(run.exitCode == 64)
        #expect(
          run.errors.hasSuffix("is not a server: \(reason)\nWrite '--proto \(path)'.\n"),
          "\(run.errors)"
        )
      }
    }
  }
}

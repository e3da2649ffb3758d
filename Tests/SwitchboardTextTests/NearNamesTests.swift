import SwitchboardText
import Testing

@Suite struct NearNamesTests {
  @Test func findsSimilarNames() {
    let names = ["shop.Shop", "shop.Shop.Buy", "shop.Order", "grpc.health.v1.Health"]
    #expect(NearNames(of: "shop.Shp", in: names).best == "shop.Shop")
    #expect(NearNames(of: "order", in: names).best == "shop.Order")
    #expect(NearNames(of: "Helth", in: names).best == "grpc.health.v1.Health")
    // Who writes the beginning of a name wants what goes on like it.
    #expect(NearNames(of: "shop.Ord", in: names + ["shop.OrderRequest"]).names.prefix(1) == ["shop.Order"])
    let echoes = ["echo.Echo", "echo.Echo.Get", "echo.EchoRequest"]
    #expect(NearNames(of: "echo.EchoReq", in: echoes).best == "echo.EchoRequest")
    #expect(NearNames(of: "EchoReq", in: echoes).best == "echo.EchoRequest")
    #expect(NearNames(of: "entirely.Different", in: names).best == nil)
    #expect(NearNames(of: "", in: names).best == nil)
    // A user has typed this already; in other capitals, it is another name.
    #expect(!NearNames(of: "shop.Shop", in: names).names.contains("shop.Shop"))
    #expect(NearNames(of: "shop.shop", in: names).best == "shop.Shop")
    // Of flags that begin alike, the nearest: the dashes are none of their letters.
    let flags = ["--agent-cacert", "--agent-token", "--agents", "--data", "-d", "-H"]
    #expect(NearNames(of: "--agent", in: flags).names == ["--agents", "--agent-token", "--agent-cacert"])
    #expect(NearNames(of: "-agents", in: flags).best == "--agents")
    #expect(NearNames(of: "--dta", in: flags).best == "--data")
    #expect(NearNames(of: "--port", in: ["--cert", "--tls", "--proto"]).best == nil)
    #expect(NearNames(of: "--qps", in: ["--tls", "--pp"]).best == nil)
    for unlike in ["-o", "--o", "-x", "--"] {
      #expect(NearNames(of: unlike, in: flags).best == nil, "\(unlike)")
    }
    // Long names from a server are not compared letter by letter.
    let long = String(repeating: "a", count: 100_000)
    #expect(NearNames(of: long, in: [long]).best == nil)
  }

  @Test(arguments: [
    ("get", "gett", true), ("get", "et", true), ("get", "gat", true), ("get", "gte", true),
    ("aa", "aaa", true),
    ("a", "", true), ("", "", false), ("get", "get", false), ("get", "put", false), ("get", "getter", false),
    ("abcd", "badc", false), ("abc", "cba", false),
  ])
  func aSlipIsOneLetter(_ left: String, _ right: String, _ differ: Bool) {
    #expect(NearNames.differBySlip(Array(left.utf8), Array(right.utf8)) == differ)
    #expect(NearNames.differBySlip(Array(right.utf8), Array(left.utf8)) == differ)
  }
}

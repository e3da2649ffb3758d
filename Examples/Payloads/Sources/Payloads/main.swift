import Switchboard

let server = try Server(providers: [OrderDesk(), Stock.handlers])
let address = try server.bind(host: "127.0.0.1", port: 0)
let channel = try Channel(target: "\(address)")

let orders = Orders_OrdersClient(channel: channel)
let call = orders.makePlaceCall(Order(article: "kettle", count: 3))
print("placed for", try await call.response.cents)

for try await route in orders.track([Order(article: "kettle", count: 2), Order(article: "pan", count: 3)]) {
  print("stops at", (0..<route.stopCount).map { route[stop: $0] })
}

let found = try await MethodClient(channel: channel).call(Stock.find).unary("saucepan")
print("in stock:", found.count, found.article)

await channel.shutDown()
await server.shutDown()

import Switchboard

let server = try Server(providers: [Greeter(), Stock.handlers])
let address = try server.bind(host: "127.0.0.1", port: 0)

let channel = try Channel(target: "\(address)")
let client = Hello_GreeterClient(channel: channel, interceptors: PoliteCalls())
print(try await client.greet(.with { $0.name = "Ada" }).text)  // Hello, dear Ada!

let found = try await MethodClient(channel: channel).call(Stock.find).unary("kettle")
print(found.count, found.name)  // 8 kettle

await channel.shutDown()
await server.shutDown()

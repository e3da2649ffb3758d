// The messages are generated from greeting.proto in this folder in every build.
let greeting = Greeting_Greeting.with {
  $0.name = "Ada"
  $0.tone = .warm
}

let bytes: [UInt8] = try greeting.serializedBytes()
let received = try Greeting_Greeting(serializedBytes: bytes)
print("\(bytes.count) bytes: \(try received.jsonString())")

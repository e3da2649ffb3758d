import SwitchboardProtobuf
import TestMessages
import TestSupport
import Testing

/// Damaged JSON is either rejected or read.
@Suite struct JSONMutationTests {
  private static let texts = [
    #"{"oneInt32":-12,"oneUint64":"18446744073709551615","oneDouble":1.5e-7,"oneFloat":"NaN","oneBool":true}"#,
    #"{"oneString":"a\u00e9\ud83d\ude00\n谷歌","oneBytes":"AQI_-w==","oneColor":"BLUE","manyColor":["RED",5,"X"]}"#,
    #"{"oneTimestamp":"1972-01-01T10:00:20.021-08:00","oneDuration":"-1.5s","oneFieldMask":"a.bC,d","unknown":[{"a":[null]}]}"#,
    #"{"oneAny":{"value":[1,{"a":null}],"@type":"t/google.protobuf.Value"},"oneStruct":{"a":[1,"b",{"c":true}]}}"#,
    #"{"mapStringNested":{"a":{"a":1,"outer":{}}},"mapBoolBool":{"true":false},"mapInt64Int64":{"-1":"1e3"},"choiceNull":null}"#,
    #"{"wrappedInt64":"5","wrappedString":null,"@type of \"thing\": ü":2,"custom":1,"_field_name3":3}"#,
  ]

  @Test(arguments: 0..<200)
  func isReadOrRejected(seed: Int) throws {
    var random = SeededGenerator(seed: seed)
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = seed % 2 == 0
    for text in JSONMutationTests.texts {
      var bytes = Array(text.utf8)
      for _ in 0...Int.random(in: 0..<3, using: &random) { damage(&bytes, &random) }
      guard let message = try? AllKinds3(jsonUTF8Bytes: bytes, options: options) else { continue }
      // A message that was read can be written, and reads back as the same message.
      let written = try message.jsonUTF8Bytes()
      let again = try AllKinds3(jsonUTF8Bytes: written)
      #expect(try again.jsonString() == message.jsonString() || message != message)
    }
  }

  private func damage(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
    let special = Array(#"{}[]",:\0129.eE+-nulltruefs@ "#.utf8) + [0, 0x0A, 0x1F, 0x7F, 0x80, 0xC3, 0xFF]
    let place = Int.random(in: bytes.indices, using: &random)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes.removeSubrange(place...)
    case 1: bytes[place] = random.pick(special)
    case 2: bytes.insert(random.pick(special), at: place)
    case 3:
      bytes.insert(contentsOf: bytes[place...].prefix(9), at: Int.random(in: bytes.indices, using: &random))
    default: bytes.remove(at: place)
    }
    if bytes.isEmpty { bytes = [0x7B] }
  }
}

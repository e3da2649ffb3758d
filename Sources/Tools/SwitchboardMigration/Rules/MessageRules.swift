/// Messages of Switchboard in place of SwiftProtobuf's. None of these rules applies if the messages stay.
enum MessageRules {
  static let all: [Rule] = [
    .change("SwiftProtobuf.Message", to: "SwitchboardProtobuf.Message"),
    .change(
      "$MESSAGE(serializedData: $data)",
      to: "$MESSAGE(serializedBytes: Array($data))",
      if: .isGenerated("MESSAGE")
    ),
    .change("fromJSONUTF8Data: $data)", to: "fromJSONUTF8Bytes: Array($data))"),
    .change("(jsonUTF8Data: $data)", to: "(jsonUTF8Bytes: Array($data))"),
    .advise(".serializedData", bytes),
    .advise("serializedData", bytes),
    .advise("jsonUTF8Data", bytes),
    .advise("fromJSONUTF8Data", bytes),
    .advise("$NAME = Data(", "A field of bytes is [UInt8]: Array(data)."),
  ]

  private static let bytes =
    "Bytes are [UInt8], not Data: serializedBytes(), init(serializedBytes:), jsonUTF8Bytes(). Data(bytes) and Array(data) convert."
}

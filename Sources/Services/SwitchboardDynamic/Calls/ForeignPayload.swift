import Switchboard
import SwitchboardProtobuf

extension ContentSubtype {
  /// What is sent for JSON of a user's, in a format that is not protobuf: JSON as it is, and of any other format the bytes
  /// that a string has in base64. Throws if the text is not that.
  package func foreignPayload(json: [UInt8]) throws(DecodeError) -> [UInt8] {
    guard self == .json else { return try Google_Protobuf_BytesValue(jsonUTF8Bytes: json).value }
    _ = try Google_Protobuf_Value(jsonUTF8Bytes: json)
    return json
  }
}

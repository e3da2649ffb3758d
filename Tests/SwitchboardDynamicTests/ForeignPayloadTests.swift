import Switchboard
import SwitchboardDynamic
import Testing

@Suite struct ForeignPayloadTests {
  @Test func aForeignFormatTakesJSONOrBytesInBase64() throws {
    let json = ContentSubtype.json
    #expect(try json.foreignPayload(json: Array(#" {"a": 1}"#.utf8)) == Array(#" {"a": 1}"#.utf8))
    #expect(try ContentSubtype("label").foreignPayload(json: Array(#""AQID""#.utf8)) == [1, 2, 3])
    #expect(throws: (any Error).self) { try json.foreignPayload(json: Array("{".utf8)) }
    #expect(throws: (any Error).self) { try ContentSubtype("label").foreignPayload(json: Array("{}".utf8)) }
  }
}

import GoogleAPIMessages
import RESTService
import Switchboard
import SwitchboardProtobuf
import SwitchboardServices
import Testing

@testable import SwitchboardREST

@Suite struct ResponseContentTests {
  private func content<M: Message>(_ method: String, _ path: String, _ message: M) throws -> (String?, String)
  {
    guard case .route(let route, _) = try RESTFixture.table().match(Array(method.utf8), Array(path.utf8)[...])
    else {
      throw RESTFixture.NoRoute()
    }
    let format = RESTFormat(route, JSONDecodingOptions(), JSONEncodingOptions(), requestsAreBodies: false)
    let buffer = try RESTMarshaller(format, route.response, ProtobufMarshaller<M>()).encode(message)
    guard case .raw = route.responseBody else {
      return (nil, buffer.withBytes { String(decoding: BytesMarshaller().decode($0), as: UTF8.self) })
    }
    let content = ResponseContent(buffer)
    return (content.contentType, String(decoding: content.bytes, as: UTF8.self))
  }

  @Test func writesWholeMessagesAndFields() throws {
    var message = Testing_Rest_Everything()
    #expect(try content("POST", "/v1/all", message) == (nil, "{}"))
    #expect(try content("POST", "/v1/response/inner", message) == (nil, "null"))
    #expect(try content("POST", "/v1/response/numbers", message) == (nil, "[]"))
    message.inner.text = "x"
    message.numbers = [1, 2]
    message.inners = [.with { $0.number = 3 }, .init()]
    message.time.seconds = 1
    #expect(try content("POST", "/v1/response/inner", message) == (nil, #"{"text":"x"}"#))
    #expect(try content("POST", "/v1/response/numbers", message) == (nil, "[1,2]"))
    #expect(try content("POST", "/v1/response/inners", message) == (nil, #"[{"number":"3"},{}]"#))
    #expect(try content("POST", "/v1/response/time", message) == (nil, #""1970-01-01T00:00:01Z""#))
  }

  @Test func writesBytesAsTheyAre() throws {
    let body = Google_Api_HttpBody.with {
      $0.contentType = "image/png"
      $0.data = Array("\u{0}x".utf8)
    }
    #expect(try content("GET", "/v1/files/x", body) == ("image/png", "\u{0}x"))
    #expect(try content("GET", "/v1/files/x", Google_Api_HttpBody()) == ("", ""))
  }

  @Test func errorsHaveTheStatusOfTheirCode() throws {
    let status = try GRPCStatus(
      code: .notFound,
      message: "gone",
      details: Google_Rpc_ErrorInfo.with { $0.reason = "R" }
    )
    var options = JSONEncodingOptions()
    let bare = String(decoding: ErrorContent.json(status, options), as: UTF8.self)
    #expect(bare == #"{"code":5,"message":"gone"}"#)
    options.typeRegistry.insert(Google_Rpc_ErrorInfo.self)
    let whole = String(decoding: ErrorContent.json(status, options), as: UTF8.self)
    #expect(
      whole
        == #"{"code":5,"message":"gone","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"R"}]}"#
    )
    #expect(ErrorContent.httpStatus(.notFound) == 404)
    #expect(ErrorContent.httpStatus(.unknown) == 500)
    #expect((1...16).allSatisfy { ErrorContent.httpStatus(GRPCStatus.Code(rawValue: $0) ?? .ok) >= 400 })
  }
}

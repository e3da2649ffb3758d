import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct ServerResponseTests {
  /// The fields that a response writes, and what it says of metadata that was too large.
  private func status(of response: inout ServerResponse, limit: Int) -> (
    fields: [String: String], refusal: GRPCStatus?
  ) {
    let headers = HeaderWriter()
    let written = response.writeStatus(into: headers, limit: limit)
    return (fields(of: headers), written.refusal)
  }

  private func fields(of headers: HeaderWriter) -> [String: String] {
    var fields: [String: String] = [:]
    headers.forEachField { name, value in
      fields[String(decoding: name, as: UTF8.self)] = String(decoding: value, as: UTF8.self)
    }
    return fields
  }

  @Test func onlyAResponseWithHeadersSucceeds() {
    var response = ServerResponse()
    #expect(!response.isSuccess && response.endsPlainly)
    response.headersDidLeave()
    #expect(response.isSuccess)
    response.status = GRPCStatus(code: .aborted)
    #expect(!response.isSuccess && !response.endsPlainly)
  }

  @Test func trailersOfItsOwnDoNotEndItPlainly() {
    var response = ServerResponse()
    response.status = .ok
    #expect(response.endsPlainly)
    response.trailers = ["a": "b"]
    #expect(!response.endsPlainly)
  }

  @Test func theHeadNamesFormatAndCompression() {
    var response = ServerResponse()
    let headers = HeaderWriter()
    response.body.compression = .gzip
    #expect(response.writeHead(["a": "b"], .unnamed, into: headers))
    #expect(
      fields(of: headers)
        == [":status": "200", "content-type": "application/grpc", "grpc-encoding": "gzip", "a": "b"]
    )
  }

  /// The protocol's own names are left out, which the log says.
  @Test func metadataThatIsLeftOutIsReported() {
    var response = ServerResponse()
    #expect(!response.writeHead(["te": "b"], .unnamed, into: HeaderWriter()))
    response.trailers = ["host": "a"]
    let written = response.writeStatus(into: HeaderWriter(), limit: 1000)
    #expect(written.incomplete == ["host": "a"] && written.refusal == nil)
  }

  @Test func aStatusThatFitsIsWrittenWhole() {
    var response = ServerResponse()
    response.status = GRPCStatus(code: .aborted, message: "no")
    response.trailers = ["a": "b"]
    let (fields, refusal) = status(of: &response, limit: 1000)
    #expect(fields == ["grpc-status": "10", "grpc-message": "no", "a": "b"] && refusal == nil)
  }

  @Test func theLoadIsLeftOutFirst() {
    var response = ServerResponse()
    response.trailers = ["a": "b", "endpoint-load-metrics-bin": String(repeating: "A", count: 1000)]
    let (fields, refusal) = status(of: &response, limit: 1000)
    #expect(fields == ["grpc-status": "0", "a": "b"] && refusal == nil)
  }

  @Test func aSuccessWithTooMuchMetadataFails() {
    var response = ServerResponse()
    response.trailers = ["a": String(repeating: "v", count: 1000)]
    let (fields, refusal) = status(of: &response, limit: 1000)
    #expect(fields["grpc-status"] == "8" && fields["a"] == nil)
    #expect(refusal?.code == .resourceExhausted && response.status == refusal && response.trailers == nil)
  }

  @Test func aFailureLosesItsMetadataAndThenItsMessage() {
    var response = ServerResponse()
    response.status = GRPCStatus(code: .aborted, message: String(repeating: "m", count: 1000))
    response.trailers = ["a": String(repeating: "v", count: 1000)]
    let (fields, refusal) = status(of: &response, limit: 900)
    #expect(fields["grpc-status"] == "10" && fields["a"] == nil)
    #expect(fields["grpc-message"]?.hasSuffix("m...") == true)
    #expect(refusal?.code == .resourceExhausted && response.status?.code == .aborted)
  }

  /// The client gets the code and the message, so that only the log can say what it lost.
  @Test func detailsThatDoNotFitAreReported() {
    var response = ServerResponse()
    response.status = GRPCStatus(code: .aborted, message: "no")
    response.status?.packedDetails = [UInt8](repeating: 1, count: 1000)
    let (fields, refusal) = status(of: &response, limit: 900)
    #expect(fields == ["grpc-status": "10", "grpc-message": "no"])
    #expect(refusal?.message?.contains("the largest is grpc-status-details-bin") == true)
  }
}

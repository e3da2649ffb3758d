import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct ClientResponseTests {
  @Test func metadataIsDeliveredOnce() {
    var response = ClientResponse(headSizeLimit: 100)
    #expect(response.takeMetadata() == nil)
    response.deliverLater(["a": "b"])
    #expect(response.takeMetadata() == ["a": "b"])
    #expect(response.takeMetadata() == nil)
  }
}

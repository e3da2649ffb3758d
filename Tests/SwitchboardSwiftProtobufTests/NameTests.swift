import SwiftProtobufStandIn
import Switchboard
import Testing

/// A file that imports both libraries can name the messages that both declare: it compiles only as long as `Switchboard`
/// exports no messages.
@Suite struct NameTests {
  @Test func aWellKnownTypeComesFromTheOtherLibrary() {
    let time = Google_Protobuf_Timestamp(seconds: 1)
    #expect(type(of: time) == SwiftProtobufStandIn.Google_Protobuf_Timestamp.self)
  }
}

public import SwiftProtobufStandIn

public typealias SwiftProtobufMessage = SwiftProtobufStandIn.Message

/// The messages as SwiftProtobuf would generate them from `notes.proto`.
struct Notes_Note: SwiftProtobufMessage, Equatable {
  var text = ""
  var standInText: String {
    get { text }
    set { text = newValue }
  }
}

struct Notes_Receipt: SwiftProtobufMessage, Equatable {
  var text = ""
  var standInText: String {
    get { text }
    set { text = newValue }
  }
}

#if SwiftProtobuf
  public import SwiftProtobuf

  /// A message that SwiftProtobuf generated.
  public typealias SwiftProtobufMessage = SwiftProtobuf.Message
#endif

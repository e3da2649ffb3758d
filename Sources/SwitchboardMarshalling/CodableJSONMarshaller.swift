public import SwitchboardCall

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Marshals `Codable` values as JSON.
public struct CodableJSONMarshaller<Message: Codable & Sendable>: Marshaller {
  private let encoder: JSONEncoder
  private let decoder: JSONDecoder

  /// Encodes and decodes with these coders, which must not be changed afterwards.
  public init(encoder: sending JSONEncoder = JSONEncoder(), decoder: sending JSONDecoder = JSONDecoder()) {
    self.encoder = encoder
    self.decoder = decoder
  }

  public var contentSubtype: ContentSubtype { .json }

  public func encode(_ message: Message) throws -> MessageBuffer {
    MessageBuffer(try encoder.encode(message))
  }

  public func decode(_ bytes: RawSpan) throws -> Message {
    try decoder.decode(Message.self, from: Data(BytesMarshaller().decode(bytes)))
  }
}

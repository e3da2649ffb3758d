import SwitchboardCall
import SwitchboardText

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Foundation's coders are 5 MB of a program that is linked statically. So nothing in this module refers to them: what does
// is compiled in the modules that use it.

/// Marshals `Codable` values as JSON.
public struct CodableJSONMarshaller<Message: Codable & Sendable>: Marshaller {
  private let encoder: @Sendable (Message) throws -> MessageBuffer
  private let decoder: @Sendable ([UInt8]) throws -> Message

  /// Encodes and decodes with these coders, which must not be changed afterwards.
  @_alwaysEmitIntoClient
  public init(encoder: sending JSONEncoder = JSONEncoder(), decoder: sending JSONDecoder = JSONDecoder()) {
    self.init(
      encode: { [encoder] in MessageBuffer(try encoder.encode($0)) },
      decode: { [decoder] in try decoder.decode(Message.self, from: Data($0)) }
    )
  }

  @usableFromInline
  init(
    encode: @escaping @Sendable (Message) throws -> MessageBuffer,
    decode: @escaping @Sendable ([UInt8]) throws -> Message
  ) {
    encoder = encode
    decoder = decode
  }

  public var contentSubtype: ContentSubtype { .json }

  public func encode(_ message: Message) throws -> MessageBuffer { try encoder(message) }

  public func decode(_ bytes: RawSpan) throws -> Message {
    let bytes = BytesMarshaller().decode(bytes)
    guard !JSONMarks.areTooMany(in: bytes) else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "it is not UTF-8, or has more than \(String.longestRunOfMarks) combining marks in a row"
      )
    }
    do {
      return try decoder(bytes)
    } catch let error as DecodingError {
      throw error.plainStatus
    }
  }
}

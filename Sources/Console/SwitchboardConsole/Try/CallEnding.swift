import ConsoleMessages
import Switchboard
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardText

/// How a call ended, as the page shows it.
struct CallEnding: Sendable {
  private(set) var message = Switchboard_Console_V1_CallEnd()

  /// The most of the message, in characters.
  private static let mostOfMessage = 16 << 10
  /// The most details, the most of one that is shown, and the most JSON that is made of it.
  private static let mostDetails = 50
  static let mostOfDetail = 16 << 10
  private static let mostJSON = 64 << 10

  init(_ status: GRPCStatus, _ trailers: HPACKHeaders, _ types: TypeRegistry) {
    message.code = status.code.specName
    message.message = (status.message ?? "").excerpt(Self.mostOfMessage)
    message.trailers = trailers.shown
    var options = JSONEncodingOptions()
    options.typeRegistry = types
    for detail in ((try? status.richStatus) ?? nil)?.details.prefix(Self.mostDetails) ?? [] {
      // One of a type that is not known is shown by its name and its bytes.
      let bytes = String(decoding: Base64.encode(detail.value.prefix(4096)), as: UTF8.self)
      let unknown = "{\"@type\":\(JSONText.string(detail.typeURL)),\"value\":\"\(bytes)\"}"
      let json = (try? detail.jsonStart(Self.mostJSON, options: options)).map {
        String(decoding: $0.bytes, as: UTF8.self)
      }
      message.details.append((json ?? unknown).start(Self.mostOfDetail))
    }
  }
}

extension HPACKHeaders {
  /// Those of the protocol itself, of which the status shows what matters.
  private static let framing = [
    ":status", "content-type", "grpc-status", "grpc-message", "grpc-status-details-bin",
  ]
  private static let mostShown = 200

  /// The metadata that a call received.
  var shown: [Switchboard_Console_V1_CallHeader] {
    filter { name, _ in !Self.framing.contains { name.isExactly($0) } }.prefix(Self.mostShown).map {
      name,
      value in
      .with { ($0.name, $0.value) = (name, value.excerpt(8 << 10)) }
    }
  }

  /// The metadata that a viewer asks for. Throws if it cannot be sent.
  init(_ headers: [Switchboard_Console_V1_CallHeader]) throws(CallMistake) {
    self.init()
    for header in headers {
      let name = String(decoding: header.name.utf8.map(\.lowercased), as: UTF8.self)
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isOfName) else {
        throw CallMistake("metadata has names of letters, digits and -_. only: \(header.name.excerpt)")
      }
      guard !FieldSyntax.isReserved(name) else {
        throw CallMistake("the protocol itself sends \(name)")
      }
      if name.utf8.suffix(4).elementsEqual("-bin".utf8) {
        guard let bytes = Base64.decode(header.value.utf8) else {
          throw CallMistake("the value of \(name) is binary, and needs to be in base64")
        }
        add(name: name, binary: bytes)
      } else {
        guard header.value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
          throw CallMistake(
            "the value of \(name) has characters that only metadata whose name ends in -bin can have"
          )
        }
        add(name: name, value: header.value)
      }
    }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x61...0x7A, 0x30...0x39, UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
    default: false
    }
  }
}

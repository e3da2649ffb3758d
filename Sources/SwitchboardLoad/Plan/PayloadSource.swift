import Switchboard

/// The requests of calls, in turn. Those that are the same each time are encoded once.
package struct PayloadSource: Sendable {
  /// Makes an encoded message of JSON.
  package typealias Encoder = @Sendable (String) throws -> [UInt8]

  private enum Payload: Sendable {
    case constant(MessageBuffer)
    case template(PayloadTemplate)
  }

  private let payloads: [Payload]
  private let seed: UInt64
  private let encode: Encoder

  /// Encoded messages, and no templates.
  package init(encoded: [[UInt8]]) {
    payloads = encoded.isEmpty ? [.constant(MessageBuffer([]))] : encoded.map { .constant(MessageBuffer($0)) }
    seed = 0
    encode = { _ in [] }
  }

  /// JSON, with placeholders or without; without any text, an empty message. Throws what cannot be encoded.
  package init(json texts: [String], seed: UInt64, encode: @escaping Encoder) throws(PayloadError) {
    var payloads: [Payload] = []
    for (place, text) in texts.enumerated() {
      do {
        let template = try PayloadTemplate(text)
        var numbers = SeededNumbers(seed: seed, call: 0)
        let encoded = try encode(template.text(call: 0, numbers: &numbers))
        payloads.append(template.isConstant ? .constant(MessageBuffer(encoded)) : .template(template))
      } catch {
        throw PayloadError(texts.count == 1 ? "\(error)" : "payload \(place + 1): \(error)")
      }
    }
    if payloads.isEmpty { payloads.append(.constant(MessageBuffer([]))) }
    self.payloads = payloads
    self.seed = seed
    self.encode = encode
  }

  /// The request of a call; of a stream, one of its requests.
  @inline(__always)
  func payload(call: UInt64, message: Int = 0) throws -> MessageBuffer {
    let place = payloads.count == 1 ? 0 : Int((call &+ UInt64(message)) % UInt64(payloads.count))
    switch payloads[place] {
    case .constant(let buffer): return buffer
    case .template(let template): return try encoded(template, call, message)
    }
  }

  private func encoded(_ template: PayloadTemplate, _ call: UInt64, _ message: Int) throws -> MessageBuffer {
    var numbers = SeededNumbers(seed: seed ^ UInt64(message) << 32, call: call)
    do {
      return MessageBuffer(try encode(template.text(call: call, numbers: &numbers)))
    } catch {
      throw GRPCStatus(code: .invalidArgument, message: "the payload of call \(call): \(error)")
    }
  }
}

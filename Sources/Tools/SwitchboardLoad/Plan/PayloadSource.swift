import Switchboard

/// Supplies the requests of calls, in turn. Requests without placeholders are encoded once.
package struct PayloadSource: Sendable {
  /// Converts JSON to an encoded message.
  package typealias Encoder = @Sendable (String) throws -> [UInt8]

  private enum Payload: Sendable {
    case constant(MessageBuffer)
    case template(PayloadTemplate)
  }

  private let payloads: [Payload]
  private let seed: UInt64
  private let encode: Encoder

  /// Requests that are already encoded.
  package init(encoded: [[UInt8]]) {
    payloads = encoded.isEmpty ? [.constant(MessageBuffer([]))] : encoded.map { .constant(MessageBuffer($0)) }
    seed = 0
    encode = { _ in [] }
  }

  /// Requests in JSON, with or without placeholders; a single empty message if there are none. Throws if one cannot be
  /// encoded.
  package init(json texts: [String], seed: UInt64, encode: @escaping Encoder) throws(PayloadError) {
    var payloads: [Payload] = []
    for (index, text) in texts.enumerated() {
      do {
        let template = try PayloadTemplate(text)
        var numbers = SeededNumbers(seed: seed, call: 0)
        let encoded = try encode(template.text(call: 0, numbers: &numbers))
        payloads.append(template.isConstant ? .constant(MessageBuffer(encoded)) : .template(template))
      } catch {
        throw PayloadError(texts.count == 1 ? "\(error)" : "payload \(index + 1): \(error)")
      }
    }
    if payloads.isEmpty { payloads.append(.constant(MessageBuffer([]))) }
    self.payloads = payloads
    self.seed = seed
    self.encode = encode
  }

  /// The request of a call, or one of the requests of a streaming call.
  @inline(__always)
  func payload(call: UInt64, message: Int = 0) throws -> MessageBuffer {
    let index = payloads.count == 1 ? 0 : Int((call &+ UInt64(message)) % UInt64(payloads.count))
    switch payloads[index] {
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

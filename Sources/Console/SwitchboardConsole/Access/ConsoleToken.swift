import SwitchboardCall
import SwitchboardTransport

/// The secret that opens a console.
struct ConsoleToken: Sendable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }

  /// One that nobody can guess: 192 random bits.
  static func made() -> String {
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    var source = SystemRandomNumberGenerator()
    let chosen = (0..<32).map { _ in letters[Int.random(in: 0..<64, using: &source)] }
    return String(decoding: chosen, as: UTF8.self)
  }

  static let shortest = 16

  /// Throws if a user's token is too short, or could not be sent.
  static func check(_ text: String) throws(GRPCStatus) {
    let allowed = Array("-._~+/=".utf8)
    let isSendable = text.utf8.allSatisfy { byte in
      allowed.contains(byte) || Unicode.Scalar(byte).properties.isAlphabetic && byte < 0x80
        || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
    guard isSendable, text.utf8.count >= shortest else {
      throw GRPCStatus(
        code: .invalidArgument,
        message:
          "ConsoleOptions.access: a token has at least \(shortest) characters, which are letters, digits and -._~+/= only"
      )
    }
  }

  /// Whether the request has it, as `Authorization: Bearer TOKEN`.
  func opens(_ request: HTTPPage.Request) -> Bool {
    guard let field = request.headers["authorization"].first else { return false }
    let given = Array(field.utf8)
    let scheme = Array("bearer ".utf8)
    guard given.count == scheme.count + bytes.count,
      given.prefix(scheme.count).map({ $0 | 0x20 }).elementsEqual(scheme)
    else { return false }
    // All bytes are compared, so that the time says nothing of how many are right.
    var difference: UInt8 = 0
    for (one, other) in zip(given.dropFirst(scheme.count), bytes) { difference |= one ^ other }
    return difference == 0
  }
}

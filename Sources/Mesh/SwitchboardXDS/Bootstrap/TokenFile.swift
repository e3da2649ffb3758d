import Dispatch
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardProtobuf
import SwitchboardText

/// A JSON Web Token in a file, which others renew before it expires (gRFC A97). It is read for each stream, of which there are few.
struct TokenFile: AuthTokenProvider {
  let path: String
  var now: @Sendable () -> Google_Protobuf_Timestamp = { .now() }

  /// What may pass until the server looks at the token, in seconds.
  private static let margin = 30.0

  func token() async throws -> String? {
    // The file may be on a disk that does not answer.
    let text = try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global(qos: .utility).async {
        let result = Result { try FileContents.read(path, isRegular: true) }
        continuation.resume(with: result.mapError { failure($0, .unavailable) })
      }
    }
    let token = String(decoding: text, as: UTF8.self).trimmingSpaces
    guard let expiry = Self.expiry(of: token) else {
      throw failure("it is not a JSON Web Token with the time of its expiry (exp)", .unauthenticated)
    }
    guard Double(now().seconds) + Self.margin < expiry else {
      throw failure("it has expired: what renews the file has not done so", .unauthenticated)
    }
    return token
  }

  private func failure(_ reason: any Error, _ code: GRPCStatus.Code) -> GRPCStatus {
    failure((reason as? GRPCStatus)?.message ?? "\(reason)", code)
  }

  private func failure(_ reason: String, _ code: GRPCStatus.Code) -> GRPCStatus {
    GRPCStatus(code: code, message: "the token in \(path.excerpt) cannot be used: \(reason)")
  }

  /// When a token expires, in seconds since 1970. Only the server can tell whether it is genuine.
  private static func expiry(of token: String) -> Double? {
    let parts = Array(token.utf8).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let claims = Base64.decodeEither(parts[1]),
      case .object(let members)? = try? ConfigValue(json: String(decoding: claims, as: UTF8.self)),
      case .number(let seconds)? = members["exp"]
    else { return nil }
    return seconds
  }
}

extension String {
  /// Without the end of its line, and what else surrounds it.
  fileprivate var trimmingSpaces: String {
    let isSpace = { (byte: UInt8) in byte <= UInt8(ascii: " ") }
    let rest = Array(utf8.drop(while: isSpace))
    let end = rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? 0
    return String(decoding: rest[..<end], as: UTF8.self)
  }
}

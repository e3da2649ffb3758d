import Switchboard

/// What a call's metadata ask of the server: values of `rpc-behavior`, apart by commas.
enum RPCBehavior {
  case sleep(Duration)
  /// Answers never.
  case keepOpen
  case fail(GRPCStatus.Code)
  /// Answers at once if as many attempts came before.
  case succeed(afterAttempts: Int)

  /// The values that are for a server of this name. `hostname=NAME` before one means that it is for that server only.
  static func all(_ headers: HPACKHeaders, for hostname: String) -> [String] {
    headers["rpc-behavior"].flatMap { $0.split(separator: ",") }.compactMap { text in
      let words = text.split(separator: " ")
      guard let first = words.first else { return nil }
      guard first.hasPrefix(namePrefix) else { return String(first) }
      // One that asks for nothing is reported when it is read.
      guard words.count > 1 else { return String(first) }
      return first.dropFirst(namePrefix.count) == hostname ? String(words[1]) : nil
    }
  }

  private static let namePrefix = "hostname="

  /// `nil` for a behavior that is not known. Throws if it is known, and is not written as it should be.
  init?(_ text: String) throws(GRPCStatus) {
    if text == "keep-open" {
      self = .keepOpen
    } else if let count = try Self.number(in: text, after: "sleep-") {
      self = .sleep(.seconds(count))
    } else if let code = try Self.number(in: text, after: "error-code-") {
      self = .fail(GRPCStatus.Code(rawValue: code) ?? .unknown)
    } else if let count = try Self.number(in: text, after: "succeed-on-retry-attempt-") {
      self = .succeed(afterAttempts: count)
    } else if text.hasPrefix(Self.namePrefix) {
      throw Self.invalid(text, "hostname=NAME BEHAVIOR")
    } else {
      return nil
    }
  }

  private static func number(in text: String, after prefix: String) throws(GRPCStatus) -> Int? {
    guard text.hasPrefix(prefix) else { return nil }
    guard let number = UInt32(text.dropFirst(prefix.count)) else { throw invalid(text, "\(prefix)NUMBER") }
    return Int(number)
  }

  private static func invalid(_ text: String, _ form: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "rpc-behavior has \(text.debugDescription), and not \(form)")
  }
}

extension ServerCallContext {
  /// Does what the call's metadata ask of a server of this name, in order. Throws if the call has to fail.
  func behave(as hostname: String) async throws {
    for text in RPCBehavior.all(headers, for: hostname) {
      switch try RPCBehavior(text) {
      case .sleep(let time): try await Task.sleep(for: time)
      case .keepOpen: try await untilShutdown { try await Task.sleep(for: .seconds(Int32.max)) }
      case .fail(.ok), nil: break
      case .fail(let code): throw GRPCStatus(code: code, message: "rpc-behavior asks for \(text)")
      case .succeed(let count):
        let previous = headers.first(name: "grpc-previous-rpc-attempts").flatMap { Int($0) } ?? 0
        if previous == count { return }
      }
    }
  }
}

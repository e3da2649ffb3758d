// unsafe: request bytes that the socket lends for one read

import SwitchboardCall
import SwitchboardNetwork

extension HeaderWriter {
  /// Why the fields cannot be written as lines of text, if they cannot: what follows a line break in one of them would be
  /// taken for another field, or for another message.
  var refusalOfLines: GRPCStatus? {
    var areAllowed = true
    forEachField { name, value in
      let isAllowed =
        switch name {
        case ":path": MethodDescriptor.isTarget(value)
        case ":authority": FieldSyntax.isHost(value)
        default: FieldSyntax.isValue(value)
        }
      if !isAllowed { areAllowed = false }
    }
    return areAllowed ? nil : .headersNotAllowed
  }
}

extension GRPCStatus {
  fileprivate static let headersNotAllowed = GRPCStatus(
    code: .internalError,
    message: "a header has characters that HTTP does not allow",
    origin: .user
  )
}

/// Writes bodies of HTTP/1.1, in chunks or as they are.
struct HTTP1Output {
  /// Whether the body is sent in chunks, because its length is not known.
  var isChunked = true
  /// Whether the stream has no more for now.
  var waits = false

  private static let pieceLimit = 16 * 1024

  enum Progress { case some, wait, end }

  /// Appends the next piece of a stream's body.
  func append(bodyOf stream: any SessionStream, to output: OutputBuffer) -> Progress {
    guard isChunked else { return append(wholeBodyOf: stream, to: output) }
    return withUnsafeTemporaryAllocation(byteCount: Self.pieceLimit, alignment: 1) { buffer in
      switch stream.readBody(into: buffer) {
      case .copied(let count):
        append(chunk: UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: output)
        return .some
      case .borrowed(let count, _):
        guard let (message, bytes) = stream.takeBorrowed(count) else { return .wait }
        Self.append("\(String(count, radix: 16))\r\n", to: output)
        output.append(message, bytes)
        Self.append("\r\n", to: output)
        return .some
      case .wait:
        return .wait
      case .last(let count):
        append(chunk: UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: output)
        Self.append("0\r\n\r\n", to: output)
        return .end
      }
    }
  }

  /// A body whose length is in the headers is read into the output.
  private func append(wholeBodyOf stream: any SessionStream, to output: OutputBuffer) -> Progress {
    var read = BodyRead.wait
    output.append(atMost: Self.pieceLimit) { room in
      read = stream.readBody(into: room)
      return switch read {
      case .copied(let count), .last(let count): count
      case .borrowed, .wait: 0
      }
    }
    switch read {
    case .copied: return .some
    case .borrowed(let count, _):
      guard let (message, bytes) = stream.takeBorrowed(count) else { return .wait }
      output.append(message, bytes)
      return .some
    case .wait: return .wait
    case .last: return .end
    }
  }

  /// An empty chunk would end the body.
  private func append(chunk bytes: UnsafeRawBufferPointer, to output: OutputBuffer) {
    guard !bytes.isEmpty else { return }
    Self.append("\(String(bytes.count, radix: 16))\r\n", to: output)
    output.append(bytes)
    Self.append("\r\n", to: output)
  }

  private static func append(_ text: String, to output: OutputBuffer) {
    var text = text
    text.withUTF8 { output.append(UnsafeRawBufferPointer($0)) }
  }
}

/// The body of a gRPC-Web call where it differs from gRPC: Base64 in the text format, and trailers at the end of the
/// body.
final class WebBody {
  let isText: Bool
  private var decoder = Base64Decoder()
  /// The bytes to send first.
  private var staged: [UInt8] = []
  private var offset = 0
  private var isEnding = false

  init(_ format: WebFormat) {
    isText = format == .text
  }

  // MARK: Requests

  /// Decodes a piece of the body; `nil` if it is not Base64.
  func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? { decoder.decode(text) }

  /// Whether the body is incomplete.
  var isInsideGroup: Bool { decoder.isInsideGroup }

  // MARK: Responses

  var hasStaged: Bool { offset < staged.count }

  func stage(_ bytes: some Collection<UInt8>) {
    if !hasStaged {
      staged.removeAll(keepingCapacity: true)
      offset = 0
    }
    if isText { Base64Text.append(bytes, to: &staged) } else { staged += bytes }
  }

  /// Stages the last bytes of the response: the trailers as a message with a flag.
  func stageTrailers(_ lines: [UInt8]) {
    let length = UInt32(clamping: lines.count)
    stage([0x80] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + lines)
    isEnding = true
  }

  func takeStaged(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    let count = min(buffer.count, staged.count - offset)
    staged.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
    }
    offset += count
    return isEnding && !hasStaged ? .last(count) : .copied(count)
  }
}

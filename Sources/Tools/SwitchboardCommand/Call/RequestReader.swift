import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// Reads requests of one type from bytes, one after the other.
actor RequestReader {
  private let chunks: ByteChunks
  private var splitter: MessageSplitter
  private var ready: [MessageSplitter.Piece] = []
  private var isAtEnd = false
  private let kind: PayloadKind
  private let format: CallVerb.Format
  private let schema: Schema
  private let location: String
  /// What the user may have meant by requests that are none.
  private let hints: [ShownText]

  init(_ data: TextOrFile?, _ kind: PayloadKind, _ format: CallVerb.Format, _ schema: Schema) throws(Failure)
  {
    chunks = try ByteChunks(data)
    splitter = MessageSplitter(format)
    self.kind = kind
    self.format = format
    self.schema = schema
    location = data?.place(CallVerb.data) ?? CallVerb.data.shortName
    hints = data?.hints(for: CallVerb.data) ?? []
  }

  /// The next request, as soon as it is complete; nil at the end.
  func next() async throws -> DynamicPayload? {
    while ready.isEmpty, !isAtEnd {
      if let bytes = try await chunks.next() {
        // Reversed, so that the next request can be removed from the end.
        ready = try splitter.feed(bytes).reversed()
      } else {
        isAtEnd = true
        ready = splitter.finish().map { [$0] } ?? []
      }
    }
    guard let piece = ready.popLast() else { return nil }
    do {
      return try decode(piece.bytes)
    } catch {
      throw failure(error, in: piece)
    }
  }

  private func decode(_ bytes: [UInt8]) throws(DecodeError) -> DynamicPayload {
    guard format == .text, let type = kind.table else { return try kind.payload(json: bytes, schema.types) }
    var options = TextFormatDecodingOptions()
    options.typeRegistry = schema.types
    let text = String(decoding: bytes, as: UTF8.self)
    return .message(try DynamicMessage(type, textFormatString: text, options: options))
  }

  /// The error with its line in the whole input. The piece is parsed again after as many empty lines as there are lines
  /// before it.
  private func failure(_ error: DecodeError, in piece: MessageSplitter.Piece) -> Failure {
    var shown = error
    if piece.line > 1 || piece.column > 1 {
      let lines = [UInt8](repeating: UInt8(ascii: "\n"), count: piece.line - 1)
      let columns = [UInt8](repeating: UInt8(ascii: " "), count: piece.column - 1)
      do {
        _ = try decode(lines + columns + piece.bytes)
      } catch {
        shown = error
      }
    }
    var hints = hints + FieldHint.hints(for: shown.description, schema.pool)
    if format == .text, piece.bytes.first == UInt8(ascii: "{") {
      hints.append("It looks like JSON, and --format is text.")
    }
    if format == .json { hints += JSONHint.hints(for: piece.bytes) }
    return Failure("\(location): \(shown)", hints: hints, code: .data)
  }
}

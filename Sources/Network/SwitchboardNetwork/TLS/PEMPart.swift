import SwitchboardCall
import SwitchboardText

/// What a source of credentials should have, and what it has instead: for errors.
enum PEMPart {
  case certificate, privateKey

  private var name: String {
    switch self {
    case .certificate: "a certificate"
    case .privateKey: "a private key"
    }
  }

  private var other: PEMPart {
    switch self {
    case .certificate: .privateKey
    case .privateKey: .certificate
    }
  }

  /// Whether PEM has this part. Keys are of several kinds, such as `EC PRIVATE KEY`.
  private func isIn(_ bytes: [UInt8]) -> Bool {
    switch self {
    case .certificate: bytes.contains(part: Array("CERTIFICATE-----".utf8))
    case .privateKey: bytes.contains(part: Array("PRIVATE KEY-----".utf8))
    }
  }

  /// What an error adds about a source in which this part was not found; empty if nothing is known. `beside` is what should have
  /// the other part. The contents are not shown, because they may be a secret.
  func hint(about source: PEMSource, beside: PEMSource?) -> String {
    guard let bytes = source.contents else { return "" }
    if case .bytes = source, PEMSource.isPath(bytes) {
      return
        ": this looks like a path, and is for the PEM text itself; give the path as PEMSource.file(path) to "
        + "ClientTLS or ServerTLS, or read the file before"
    }
    if other.isIn(bytes), !isIn(bytes) {
      let isSwapped = beside?.contents.map(isIn) ?? false
      let both = if case .file = source { "the two files" } else { "the two" }
      return ": this is \(other.name), not \(name)" + (isSwapped ? ": \(both) seem to be swapped" : "")
    }
    switch DERStart(bytes) {
    case .archive:
      return
        ": this looks like PKCS #12, not PEM: convert it with openssl pkcs12 -nodes -in FILE -out FILE.pem"
    case .other:
      let command =
        switch self {
        case .certificate: "x509"
        case .privateKey: "pkey"
        }
      return
        ": this looks like DER, not PEM: convert it with openssl \(command) -inform der -in FILE -out FILE.pem"
    case nil: return ""
    }
  }
}

/// What begins as DER does, the binary form of certificates and keys.
private enum DERStart {
  /// A `.p12` or `.pfx`, with certificates and keys.
  case archive
  case other

  private static let sequence: UInt8 = 0x30
  /// The version of PKCS #12: the integer 3. Certificates begin with a sequence, and keys with 0 or 1.
  private static let archiveVersion: [UInt8] = [2, 1, 3]

  /// `nil` unless the bytes are a sequence of DER, which says how long it is, and nothing else.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2, bytes[0] == Self.sequence else { return nil }
    // A length above 127 is in bytes of its own, and their number is here.
    let sizeOfLength = bytes[1] < 0x80 ? 0 : Int(bytes[1] & 0x7f)
    guard sizeOfLength <= 4, bytes.count >= 2 + sizeOfLength else { return nil }
    let contents = bytes.dropFirst(2 + sizeOfLength)
    let length =
      sizeOfLength == 0 ? Int(bytes[1]) : bytes[2..<2 + sizeOfLength].reduce(0) { $0 << 8 | Int($1) }
    guard contents.count == length else { return nil }
    self = contents.starts(with: Self.archiveVersion) ? .archive : .other
  }
}

extension PEMSource {
  /// What the source has; `nil` if it cannot be read, or not without waiting for a writer.
  fileprivate var contents: [UInt8]? {
    switch self {
    case .file(let path): try? FileContents.read(path, isRegular: true)
    case .bytes(let bytes): bytes
    case .provider: nil
    }
  }

  private static let longestPath = 1024

  /// PEM has lines, and DER no printable text.
  fileprivate static func isPath(_ bytes: [UInt8]) -> Bool {
    guard !bytes.isEmpty, bytes.count <= longestPath, bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      return false
    }
    if bytes.first == UInt8(ascii: "/") || bytes.starts(with: "./".utf8) || bytes.starts(with: "../".utf8) {
      return true
    }
    return [".pem", ".crt", ".cer", ".key"].contains { bytes.suffix(4).elementsEqual($0.utf8) }
  }
}

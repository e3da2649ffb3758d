extension Sequence<UInt8> {
  /// Whether these bytes contain `part`. The search of Knuth, Morris and Pratt: bytes that resemble each other must not cost the
  /// product of their lengths.
  package func contains(part: [UInt8]) -> Bool {
    guard !part.isEmpty else { return true }
    var borders = [0]
    var border = 0
    for byte in part.dropFirst() {
      while border > 0, part[border] != byte { border = borders[border - 1] }
      if part[border] == byte { border += 1 }
      borders.append(border)
    }
    var matched = 0
    for byte in self {
      while matched > 0, part[matched] != byte { matched = borders[matched - 1] }
      if part[matched] == byte { matched += 1 }
      if matched == part.count { return true }
    }
    return false
  }
}

// What is written on a wire, in a file or as a name knows the letters of ASCII only.
extension UInt8 {
  @inlinable package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  @inlinable package var isLower: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
  @inlinable package var isUpper: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
  @inlinable package var isLetter: Bool { isLower || isUpper }

  /// The same letter in lower case; another byte as it is.
  @inlinable package var lowercased: UInt8 { isUpper ? self | 0x20 : self }
  /// The same letter in upper case; another byte as it is.
  @inlinable package var uppercased: UInt8 { isLower ? self & 0xDF : self }
}

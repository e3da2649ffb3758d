extension UInt8 {
  /// The byte, in lower case if it is a letter of ASCII.
  var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

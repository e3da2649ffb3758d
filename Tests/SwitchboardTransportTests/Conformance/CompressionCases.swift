import HTTP2TestSupport

extension ConformanceCase {
  /// Compressed headers: RFC 7541.
  static let compression: [ConformanceCase] =
    wellFormed.map { section, name, field in
      ConformanceCase("HPACK \(section)", name, .response()) {
        $0.frame(Kind.headers, 5, 1, $0.block() + field)
      }
    }
    + broken.map { section, name, field in
      ConformanceCase("HPACK \(section)", name, .connectionError(.compression)) {
        $0.frame(Kind.headers, 5, 1, $0.block() + field)
      }
    } + [
      ConformanceCase("HPACK 4.2", "a smaller table", .response()) {
        $0.frame(Kind.headers, 5, 1, [0x20] + $0.block())
      },
      ConformanceCase("HPACK 4.2", "a smaller table and a larger one", .response()) {
        $0.frame(Kind.headers, 5, 1, [0x20, 0x3f, 0xe1, 0x1f] + $0.block())
      },
      ConformanceCase("HPACK 6.3", "a table larger than announced", .connectionError(.compression)) {
        $0.frame(Kind.headers, 5, 1, [0x3f, 0xe2, 0x1f] + $0.block())
      },
      ConformanceCase("HPACK 2.3.2", "the table lasts from one request to the next", .response(stream: 3)) {
        $0.frame(Kind.headers, 5, 1, $0.block() + [0x40] + FramePeer.string("x-one") + FramePeer.string("1"))
        $0.frame(Kind.headers, 5, 3, $0.block() + [0xbe])
      },
      ConformanceCase("9113 4.3", "a block that breaks off", .connectionError(.compression)) {
        $0.frame(Kind.headers, 5, 1, $0.block() + [0x40, 0x05, 0x61])
      },
    ]

  /// A field in each representation, after a complete request.
  private static let wellFormed: [(String, String, [UInt8])] = [
    ("6.1", "an indexed field", [0x90]),
    ("6.2.1", "a field to index, with an indexed name", [0x50] + FramePeer.string("gzip")),
    ("6.2.1", "a field to index", [0x40] + FramePeer.string("x-test") + FramePeer.string("ok")),
    ("6.2.2", "a field not to index, with an indexed name", [0x0f, 0x01] + FramePeer.string("gzip")),
    ("6.2.2", "a field not to index", [0x00] + FramePeer.string("x-test") + FramePeer.string("ok")),
    ("6.2.3", "a field never to index, with an indexed name", [0x1f, 0x01] + FramePeer.string("gzip")),
    ("6.2.3", "a field never to index", [0x10] + FramePeer.string("x-test") + FramePeer.string("ok")),
    // "x-test" and "ok", padded with ones.
    ("5.2", "a field in Huffman's code", [0x40, 0x85, 0xf2, 0xb2, 0x4a, 0x84, 0xff, 0x82, 0x3f, 0x5f]),
  ]

  private static let broken: [(String, String, [UInt8])] = [
    ("2.3.3", "an index beyond the tables", [0xff, 0x80, 0x01]),
    ("2.3.3", "a name's index beyond the tables", [0x7f, 0x80, 0x01] + FramePeer.string("ok")),
    ("4.2", "a change of the table at the end", [0x20]),
    ("5.1", "a number without end", [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
    ("5.2", "padding of more than seven bits", [0x00, 0x86, 0xf2, 0xb2, 0x4a, 0x84, 0xff, 0xff, 0x01, 0x61]),
    ("5.2", "padding with zeros", [0x00, 0x85, 0xf2, 0xb2, 0x4a, 0x84, 0x80, 0x01, 0x61]),
    ("5.2", "the end of strings inside one", [0x00, 0x84, 0xff, 0xff, 0xff, 0xff, 0x01, 0x61]),
    ("6.1", "the index zero", [0x80]),
  ]
}

import Foundation
import ReferenceSupport

/// The schema of ``Kinds`` and ``Legacy`` in libprotobuf.
enum TextSchema {
  /// libprotobuf, with both schemas linked.
  static func reference() throws -> Reference {
    let folder = NSTemporaryDirectory() + "text-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for (name, source) in [("kinds.proto", kinds), ("legacy.proto", legacy)] {
      try Data(source.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
    }
    return try Reference(protos: ["kinds.proto", "legacy.proto"], includeDirectories: [folder])
  }

  private static let kinds = """
    syntax = "proto3";
    package text;
    import "google/protobuf/any.proto";
    enum Color { RED = 0; GREEN = 1; BLUE = 2; BELOW = -1; }
    message Kinds {
      int32 i32 = 1; int64 i64 = 2; uint32 u32 = 3; uint64 u64 = 4; sint32 s32 = 5; sint64 s64 = 6;
      fixed32 f32 = 7; fixed64 f64 = 8; float real = 9; double wide = 10; bool flag = 11; string text = 12;
      bytes data = 13; Color color = 14; Kinds child = 15; optional int32 maybe = 16;
      repeated int32 numbers = 17; repeated string texts = 18; repeated Kinds children = 19;
      map<string, int32> counts = 20; map<int32, Kinds> kids = 21; map<bool, Color> colors = 22;
      oneof choice { int32 first = 23; string second = 24; Kinds third = 25; }
      google.protobuf.Any any = 26; repeated double reals = 27; repeated bool flags = 28;
      reserved "old_field", "older";
    }
    """

  private static let legacy = """
    syntax = "proto2";
    package text;
    enum Closed { ONE = 1; TWO = 2; }
    message Legacy {
      required int32 id = 1;
      optional group Data = 2 { optional int32 a = 1; }
      repeated group MultiWord = 3 { optional int32 a = 1; }
      optional Closed closed = 4;
      optional string text = 5;
      optional Set set = 6;
      extensions 100 to 200;
    }
    extend Legacy {
      optional string note = 100;
      repeated int32 codes = 101;
      optional group Extra = 102 { optional int32 a = 1; }
      optional Legacy nested = 103;
    }
    message Set { option message_set_wire_format = true; extensions 4 to max; }
    message SetItem { extend Set { optional SetItem item = 1000; } optional int32 a = 1; }
    extend Set { optional SetItem outside = 1001; }
    """
}

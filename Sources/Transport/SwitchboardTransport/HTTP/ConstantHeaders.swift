// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2

/// A list of headers that is built once and never changes. Copies need no reference counting.
struct ConstantHeaders: @unchecked Sendable {
  // Sendable because the list is written here and only read afterwards. It is never freed: the few that exist are
  // global.
  let entries: UnsafePointer<nghttp2_nv>
  let count: Int
  /// The size of the fields, as HTTP/2 counts it.
  let listSize: Int

  init(_ fields: [(StaticString, StaticString)]) {
    let list = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: fields.count)
    let flags = UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | NGHTTP2_NV_FLAG_NO_COPY_VALUE.rawValue)
    for (index, field) in fields.enumerated() {
      list[index] = nghttp2_nv(
        name: UnsafeMutablePointer(mutating: field.0.utf8Start),
        value: UnsafeMutablePointer(mutating: field.1.utf8Start),
        namelen: field.0.utf8CodeUnitCount,
        valuelen: field.1.utf8CodeUnitCount,
        flags: flags
      )
    }
    entries = UnsafePointer(list)
    count = fields.count
    listSize = fields.reduce(0) { $0 + $1.0.utf8CodeUnitCount + $1.1.utf8CodeUnitCount + 32 }
  }

  static let response = ConstantHeaders([
    (":status", "200"), ("content-type", "application/grpc"),
  ])

  static let connectProto = ConstantHeaders([
    (":status", "200"), ("content-type", "application/proto"),
  ])

  static let connectJSON = ConstantHeaders([
    (":status", "200"), ("content-type", "application/json"),
  ])

  static let success = ConstantHeaders([("grpc-status", "0")])
}

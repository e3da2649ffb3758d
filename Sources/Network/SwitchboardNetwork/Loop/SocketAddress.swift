// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A resolved address to bind or to connect to.
public struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: Hashable {
    case ip(isV6: Bool)
    case unix(path: String)
    /// A name in the abstract namespace, which only Linux has.
    case unixAbstract(name: String)
  }

  let kind: Kind
  /// A `sockaddr` of the kind's family.
  private var bytes: [UInt8]

  init?(_ address: UnsafePointer<sockaddr>, count: Int) {
    let bytes = Array(UnsafeRawBufferPointer(start: address, count: count))
    switch Int32(address.pointee.sa_family) {
    case AF_INET: kind = .ip(isV6: false)
    case AF_INET6: kind = .ip(isV6: true)
    case AF_UNIX: kind = Self.unixKind(bytes.dropFirst(2))
    default: return nil
    }
    self.bytes = bytes
  }

  /// In an abstract name, a zero byte is in place of the path's first byte. The name ends with the address.
  private static func unixKind(_ name: ArraySlice<UInt8>) -> Kind {
    let path = name.prefix { $0 != 0 }
    #if os(Linux)
      if path.isEmpty, name.count > 1 {
        return .unixAbstract(name: String(decoding: name.dropFirst(), as: UTF8.self))
      }
    #endif
    return .unix(path: String(decoding: path, as: UTF8.self))
  }

  /// `nil` if the path is longer than the system allows.
  package static func unix(path: String) -> SocketAddress? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    // An empty path, or one that begins with zero, would be an abstract name, which is open to all users.
    guard (1..<room).contains(path.utf8.count), !path.utf8.contains(0) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafeBytes(of: &address) { raw in
      raw.baseAddress.flatMap {
        SocketAddress($0.assumingMemoryBound(to: sockaddr.self), count: MemoryLayout<sockaddr_un>.size)
      }
    }
  }

  /// `nil` if the name is empty, contains a zero, or is longer than the system allows, and on systems other than Linux.
  package static func unix(abstractName name: String) -> SocketAddress? {
    #if os(Linux)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let room = MemoryLayout.size(ofValue: address.sun_path)
      let length = name.utf8.count
      guard length > 0, length < room, !name.utf8.contains(0) else { return nil }
      withUnsafeMutableBytes(of: &address.sun_path) {
        UnsafeMutableRawBufferPointer(rebasing: $0.dropFirst()).copyBytes(from: name.utf8)
      }
      let size = MemoryLayout<sockaddr_un>.size - room + 1 + length
      return withUnsafeBytes(of: &address) { raw in
        raw.baseAddress.flatMap { SocketAddress($0.assumingMemoryBound(to: sockaddr.self), count: size) }
      }
    #else
      return nil
    #endif
  }

  /// An address in numeric form; `nil` if the text is not one.
  package static func numeric(_ host: String, port: Int) -> SocketAddress? {
    guard (0...65535).contains(port) else { return nil }
    var four = sockaddr_in()
    if uv_ip4_addr(host, Int32(port), &four) == 0 { return of(&four) }
    var six = sockaddr_in6()
    if uv_ip6_addr(host, Int32(port), &six) == 0 { return of(&six) }
    return nil
  }

  private static let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

  /// The IPv4 address for an IPv4-mapped IPv6 address.
  package static func unmapped(_ ipBytes: [UInt8]) -> [UInt8] {
    ipBytes.count == 16 && ipBytes.starts(with: mapped) ? Array(ipBytes.dropFirst(mapped.count)) : ipBytes
  }

  /// Whether the 4 or 16 bytes of an address lead back to the machine itself.
  package static func isLoopback(_ ipBytes: [UInt8]) -> Bool {
    let address = unmapped(ipBytes)
    return address.count == 4
      ? address[0] == 127 : address.last == 1 && address.dropLast().allSatisfy { $0 == 0 }
  }

  private static func of<Address>(_ address: inout Address) -> SocketAddress? {
    withUnsafeBytes(of: &address) { raw in
      raw.baseAddress.flatMap { SocketAddress($0.assumingMemoryBound(to: sockaddr.self), count: raw.count) }
    }
  }

  func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    // A copy with the strictest alignment of all address families.
    var storage = sockaddr_storage()
    withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: bytes.prefix($0.count)) }
    return withUnsafePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(bytes.count)) }
    }
  }

  /// The same internet address with another port.
  func with(port: Int) -> SocketAddress {
    guard case .ip = kind, bytes.count >= 4 else { return self }
    var address = self
    address.bytes[2] = UInt8(truncatingIfNeeded: port >> 8)
    address.bytes[3] = UInt8(truncatingIfNeeded: port)
    return address
  }

  /// The port of an internet address; 0 for a Unix socket.
  public var port: Int {
    guard case .ip = kind, bytes.count >= 4 else { return 0 }
    return Int(bytes[2]) << 8 | Int(bytes[3])
  }

  /// The bytes of an internet address, 4 or 16.
  package var ipBytes: [UInt8]? {
    guard case .ip(let isV6) = kind else { return nil }
    // After the family, the port and, for IPv6, the flow label.
    let range = isV6 ? 8..<24 : 4..<8
    return bytes.count >= range.upperBound ? Array(bytes[range]) : nil
  }

  /// Whether this is a Unix socket that was not bound.
  package var isUnnamed: Bool { kind == .unix(path: "") }

  /// The numeric host, or the path or name of a Unix socket.
  public var host: String {
    switch kind {
    case .ip: numericHost
    case .unix(let path): path
    case .unixAbstract(let name): name
    }
  }

  private var numericHost: String {
    withSockaddr { address, _ in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
        guard let base = text.baseAddress, uv_ip_name(address, base, 64) == 0 else { return "" }
        return String(cString: base)
      }
    }
  }

  /// In gRPC's form: `ipv4:127.0.0.1:80`, `ipv6:[::1]:80`, `unix:/path`, `unix-abstract:name`.
  public var description: String {
    switch kind {
    case .ip(isV6: false): "ipv4:\(endpoint)"
    case .ip(isV6: true): "ipv6:\(endpoint)"
    case .unix, .unixAbstract: endpoint
    }
  }

  /// The address in the usual form.
  var endpoint: String {
    switch kind {
    case .ip(isV6: false): "\(host):\(port)"
    case .ip(isV6: true): "[\(host)]:\(port)"
    case .unix(let path): "unix:\(path)"
    case .unixAbstract(let name): "unix-abstract:\(name)"
    }
  }
}

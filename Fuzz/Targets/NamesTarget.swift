import CAres
import Glibc

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Messages of name servers, which c-ares reads once they were found sound.
enum NamesTarget {
  static func run(_ input: [UInt8]) throws {
    guard NameMessage.isSound(input) else { return }
    var message = input
    NameMessage.limitAnswers(of: &message)
    try BrokenPromise.unless(NameMessage.isSound(message), "a limited message is not sound")
    var texts: UnsafeMutablePointer<ares_txt_ext>?
    if ares_parse_txt_reply_ext(message, Int32(message.count), &texts) == ARES_SUCCESS {
      ares_free_data(texts)
    }
    var host: UnsafeMutablePointer<hostent>?
    var addresses = [ares_addrttl](repeating: ares_addrttl(), count: 16)
    var count = Int32(addresses.count)
    guard ares_parse_a_reply(message, Int32(message.count), &host, &addresses, &count) == ARES_SUCCESS else {
      return
    }
    defer { ares_free_hostent(host) }
    try BrokenPromise.unless(count <= addresses.count, "\(count) addresses")
    // Each byte of a name becomes four at most.
    if let name = host?.pointee.h_name {
      try BrokenPromise.unless(strlen(name) <= 4 * 255, "a name is too long")
    }
  }
}

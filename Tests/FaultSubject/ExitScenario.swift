import COpenSSL
import Foundation
import Switchboard

/// A process that ends while a channel's loop still runs. OpenSSL must not clean up then, under the loop's hands.
enum ExitScenario {
  /// The channel is the first that uses OpenSSL.
  static func run() throws {
    var options = ChannelOptions()
    options.security = .tls(ClientTLS())
    let channel = try Channel(target: "localhost:1", options: options)
    OPENSSL_atexit { _ = write(1, "OpenSSL cleans up\n", 18) }
    FaultSubject.say("ready")
    withExtendedLifetime(channel) { exit(0) }
  }
}

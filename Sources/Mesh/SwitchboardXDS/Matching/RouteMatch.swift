// unsafe: bytes of a path that a call lends for one comparison

import SwitchboardCall

/// Which calls a route is for: all rules must hold.
struct RouteMatch: Hashable, Sendable {
  /// For the path of the method.
  var path: TextRule
  var ignoresCase = false
  var headers: [HeaderRule] = []
  /// How many of a million calls may match. `nil`: all.
  var millionths: Int?

  /// `roll` is a random number from 0 to 999,999.
  func matches(_ method: MethodDescriptor, _ metadata: HPACKHeaders, roll: () -> Int) -> Bool {
    let fits = method.pathBytes.withUnsafeBufferPointer { path.matches($0, ignoringCase: ignoresCase) }
    guard fits else { return false }
    for header in headers where !header.matches(metadata) { return false }
    guard let millionths else { return true }
    return roll() < millionths
  }
}

import EchoService
import EchoTestSupport
import Switchboard

/// An echo service of the tests' own process.
struct SmallEcho: EchoingProvider {}

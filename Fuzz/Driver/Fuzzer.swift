import Glibc

/// The target, from the environment, because libFuzzer uses the arguments.
private let chosen = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

/// libFuzzer calls this with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  guard let chosen else { fatalError("FUZZ_TARGET must be one of \(FuzzTarget.allCases.map(\.rawValue))") }
  do {
    try chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  } catch {
    fatalError("\(chosen): \(error)")
  }
  return 0
}

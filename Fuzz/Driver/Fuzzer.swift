import Glibc

/// Which target the environment names, for libFuzzer's own arguments are not ours to read.
private let chosen = getenv("FUZZ_TARGET").flatMap { FuzzTarget(rawValue: String(cString: $0)) }

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  guard let chosen else { fatalError("FUZZ_TARGET names none of \(FuzzTarget.allCases.map(\.rawValue))") }
  do {
    try chosen.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
  } catch {
    fatalError("\(chosen): \(error)")
  }
  return 0
}

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The number of processors of the system; 1 if it does not say.
public func processorCount() -> Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

#if canImport(Darwin)
  import Darwin
#elseif canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The number of the system's processors; 1 if it is unknown.
public func processorCount() -> Int { max(sysconf(Int32(_SC_NPROCESSORS_ONLN)), 1) }

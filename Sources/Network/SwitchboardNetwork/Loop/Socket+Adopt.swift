// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

extension Socket {
  /// Makes a socket of a connected descriptor and takes ownership of it. If libuv rejects it or the loop has ended,
  /// closes the descriptor and returns `nil`.
  package static func adopt(_ descriptor: Int32, _ kind: SocketAddress.Kind, on loop: Loop) -> Socket? {
    guard !loop.hasEnded else {
      Glibc.close(descriptor)
      return nil
    }
    let stream: UnsafeMutablePointer<uv_stream_t>
    let result: Int32
    switch kind {
    case .ip:
      let tcp = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
      uv_tcp_init(loop.uv, tcp)
      result = uv_tcp_open(tcp, descriptor)
      if result == 0 { uv_tcp_nodelay(tcp, 1) }
      stream = UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
    case .unix, .unixAbstract:
      let pipe = UnsafeMutablePointer<uv_pipe_t>.allocate(capacity: 1)
      uv_pipe_init(loop.uv, pipe, 0)
      result = uv_pipe_open(pipe, descriptor)
      stream = UnsafeMutableRawPointer(pipe).assumingMemoryBound(to: uv_stream_t.self)
    }
    let socket = Socket(loop: loop, adopting: stream)
    guard result == 0 else {
      Glibc.close(descriptor)
      socket.close()
      return nil
    }
    return socket
  }
}

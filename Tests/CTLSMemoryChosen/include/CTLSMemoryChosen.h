#pragma once

// A program that this is linked to has chosen our allocator for OpenSSL before it starts: see `TLSMemory`. Tests that run
// together share one process, in which OpenSSL is used too early for any of them to choose it.

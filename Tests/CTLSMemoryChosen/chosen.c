#include "CTLSMemoryChosen.h"

#include "../../Sources/C/COpenSSL/memory.h"
#include "CTLSMemory.h"

__attribute__((constructor)) static void choose(void) {
  (void)switchboard_openssl_use_memory(switchboard_tls_malloc, switchboard_tls_realloc, switchboard_tls_free);
}

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <string.h>

// Macros in OpenSSL, which Swift does not import.

static inline int switchboard_openssl_stays(void) { return OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL); }

static inline int switchboard_ssl_set_server_name(SSL *ssl, const char *name) {
  return (int)SSL_set_tlsext_host_name(ssl, name);
}

static inline int switchboard_ssl_ctx_set_minimum_version(SSL_CTX *context, int version) {
  return (int)SSL_CTX_set_min_proto_version(context, version);
}

static inline int switchboard_ssl_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

static inline void switchboard_ssl_ctx_release_idle_buffers(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE
                                | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

static inline long switchboard_bio_contents(BIO *bio, char **bytes) {
  return BIO_get_mem_data(bio, bytes);
}

// A connection as OpenSSL sees it: it reads bytes that are borrowed for the duration of a call, and what it writes is
// passed on at once. Nothing is buffered here.
typedef struct {
  const unsigned char *bytes;
  size_t count;
  // The number of record headers that were read, and of messages of a handshake after the first in a record: one record
  // may hold a thousand tickets.
  size_t records;
  // The number of messages in the last record.
  size_t messages;
  void *owner;
  void (*write)(void *owner, const void *bytes, size_t count);
} switchboard_wire;

static inline int switchboard_wire_read(BIO *bio, char *target, int room) {
  switchboard_wire *wire = (switchboard_wire *)BIO_get_data(bio);
  size_t count = room > 0 ? (size_t)room : 0;
  BIO_clear_retry_flags(bio);
  if (wire->count == 0 || count == 0) {
    BIO_set_retry_read(bio);
    return -1;
  }
  if (count > wire->count) {
    count = wire->count;
  }
  memcpy(target, wire->bytes, count);
  wire->bytes += count;
  wire->count -= count;
  return (int)count;
}

static inline int switchboard_wire_write(BIO *bio, const char *bytes, int count) {
  switchboard_wire *wire = (switchboard_wire *)BIO_get_data(bio);
  BIO_clear_retry_flags(bio);
  if (count > 0) {
    wire->write(wire->owner, bytes, (size_t)count);
  }
  return count;
}

static inline long switchboard_wire_control(BIO *bio, int command, long number, void *pointer) {
  (void)bio;
  (void)number;
  (void)pointer;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// Returns null if memory ran out.
static inline BIO_METHOD *switchboard_wire_method(void) {
  BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "switchboard");
  if (method != NULL
      && !(BIO_meth_set_read(method, switchboard_wire_read) && BIO_meth_set_write(method, switchboard_wire_write)
           && BIO_meth_set_ctrl(method, switchboard_wire_control))) {
    BIO_meth_free(method);
    return NULL;
  }
  return method;
}

static inline void switchboard_wire_count(int write, int version, int type, const void *bytes, size_t count, SSL *ssl,
                                          void *argument) {
  switchboard_wire *wire = (switchboard_wire *)argument;
  (void)version;
  (void)bytes;
  (void)count;
  (void)ssl;
  if (write) {
    return;
  }
  if (type == SSL3_RT_HEADER) {
    wire->records++;
    wire->messages = 0;
  } else if (type == SSL3_RT_HANDSHAKE && wire->messages++ > 0) {
    wire->records++;
  }
}

// Makes OpenSSL read from the wire and write to it. Returns whether that succeeded.
static inline int switchboard_ssl_use_wire(SSL *ssl, BIO_METHOD *method, switchboard_wire *wire) {
  BIO *bio = method == NULL ? NULL : BIO_new(method);
  if (bio == NULL) {
    return 0;
  }
  BIO_set_data(bio, wire);
  BIO_set_init(bio, 1);
  SSL_set_bio(ssl, bio, bio);
  SSL_set_msg_callback(ssl, switchboard_wire_count);
  SSL_set_msg_callback_arg(ssl, wire);
  return 1;
}

static inline GENERAL_NAMES *switchboard_alternative_names(X509 *certificate) {
  return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int switchboard_alternative_name_count(GENERAL_NAMES *names) {
  return sk_GENERAL_NAME_num(names);
}

// The bytes and the kind of a name, or null if the kind has no plain bytes.
static inline const unsigned char *switchboard_alternative_name(GENERAL_NAMES *names, int index, int *kind, int *count) {
  const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
  const ASN1_STRING *value = NULL;
  if (name == NULL) {
    return NULL;
  }
  switch (name->type) {
    case GEN_DNS:
    case GEN_URI:
    case GEN_EMAIL: value = name->d.ia5; break;
    case GEN_IPADD: value = name->d.iPAddress; break;
    default: return NULL;
  }
  *kind = name->type;
  *count = ASN1_STRING_length(value);
  return ASN1_STRING_get0_data(value);
}

static inline int switchboard_error_reason(unsigned long error) { return ERR_GET_REASON(error); }

// Reasons above this offset are alerts from the peer.
static inline int switchboard_error_is_alert(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
}

// HTTP/2 forbids renegotiation and compression of TLS. Only clients store sessions, as tickets.
static inline void switchboard_ssl_ctx_apply_http2_rules(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

// Rejects a key with a password; OpenSSL would ask for it on the terminal.
static inline int switchboard_no_password(char *buffer, int size, int writing, void *argument) {
  (void)buffer;
  (void)size;
  (void)writing;
  (void)argument;
  return -1;
}

static inline EVP_PKEY *switchboard_read_private_key(BIO *bio) {
  return PEM_read_bio_PrivateKey(bio, NULL, switchboard_no_password, NULL);
}

static inline void switchboard_print_issuer(BIO *target, X509 *certificate) {
  X509_NAME_print_ex(target, X509_get_issuer_name(certificate), 0, XN_FLAG_RFC2253);
}

// The number of authorities that a context trusts. Those in a folder are read only when they are needed.
static inline int switchboard_ssl_ctx_trusted_count(SSL_CTX *context) {
  X509_STORE *store = SSL_CTX_get_cert_store(context);
  int count = 0;
  if (store == NULL || !X509_STORE_lock(store)) {
    return 0;
  }
  STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
  for (int index = 0; index < sk_X509_OBJECT_num(objects); index++) {
    count += X509_OBJECT_get_type(sk_X509_OBJECT_value(objects, index)) == X509_LU_X509;
  }
  X509_STORE_unlock(store);
  return count;
}

static inline void switchboard_print_subject(BIO *target, X509 *certificate) {
  X509_NAME_print_ex(target, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
}

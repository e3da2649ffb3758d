#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

// OpenSSL spells these as macros, which Swift does not import.

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

static inline BIO *switchboard_bio_read_only(const void *bytes, int count) {
  return BIO_new_mem_buf(bytes, count);
}

static inline size_t switchboard_bio_pending(BIO *bio) { return BIO_ctrl_pending(bio); }

static inline long switchboard_bio_contents(BIO *bio, char **bytes) {
  return BIO_get_mem_data(bio, bytes);
}

static inline void switchboard_bio_reset(BIO *bio) { (void)BIO_reset(bio); }

static inline void switchboard_bio_empty_is_not_eof(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }

static inline GENERAL_NAMES *switchboard_alternative_names(X509 *certificate) {
  return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}

static inline int switchboard_alternative_name_count(GENERAL_NAMES *names) {
  return sk_GENERAL_NAME_num(names);
}

// The bytes of a name and its kind, or null when the kind is none that has plain bytes.
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

// Reasons above this offset are alerts that the peer sent.
static inline int switchboard_error_is_alert(unsigned long error) {
  return ERR_GET_LIB(error) == ERR_LIB_SSL && ERR_GET_REASON(error) >= SSL_AD_REASON_OFFSET;
}

// HTTP/2 forbids both renegotiation and compression of TLS.
static inline void switchboard_ssl_ctx_apply_http2_rules(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

static inline void switchboard_print_subject(BIO *target, X509 *certificate) {
  X509_NAME_print_ex(target, X509_get_subject_name(certificate), 0, XN_FLAG_RFC2253);
}

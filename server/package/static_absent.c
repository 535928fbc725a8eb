/* static_absent.c - what the program of `make static` cannot have.
 *
 * GnuTLS takes keys from PKCS#11 tokens by p11-kit, which loads modules and is no archive. None of it is used here
 * (certificates are PEM files): these functions stand in its place and find nothing. And the C library resolves names
 * by whatever modules /etc/nsswitch.conf says, which would be of another C library: the two that are within it do. */
#include <nss.h>
#include <stddef.h>

#define ABSENT(name)                                                                               \
    void *p11_kit_##name(void);                                                                    \
    void *p11_kit_##name(void) {                                                                   \
        return NULL;                                                                               \
    }

ABSENT(config_option)
ABSENT(message)
ABSENT(module_finalize)
ABSENT(module_get_flags)
ABSENT(module_get_name)
ABSENT(module_load)
ABSENT(module_release)
ABSENT(modules_load)
ABSENT(pin_file_callback)
ABSENT(pin_get_length)
ABSENT(pin_get_value)
ABSENT(pin_new_for_string)
ABSENT(pin_register_callback)
ABSENT(pin_request)
ABSENT(pin_unref)
ABSENT(pin_unregister_callback)
ABSENT(space_strdup)
ABSENT(space_strlen)
ABSENT(strerror)
ABSENT(uri_format)
ABSENT(uri_free)
ABSENT(uri_get_attribute)
ABSENT(uri_get_attributes)
ABSENT(uri_get_module_info)
ABSENT(uri_get_pin_source)
ABSENT(uri_get_pin_value)
ABSENT(uri_get_token_info)
ABSENT(uri_match_module_info)
ABSENT(uri_match_token_info)
ABSENT(uri_new)
ABSENT(uri_parse)
ABSENT(uri_set_attribute)

__attribute__((constructor)) static void resolve_alone(void) {
    __nss_configure_lookup("hosts", "files dns");
}
